/** Says texts: asks the server for speech and plays it while it comes. No DOM. */

import { Saying } from "./saying.js";

const ACTIVE = new Set(["waiting", "queued", "retrying", "speaking", "resuming"]);

/** Fires "change" whenever `state` or `figures` may have changed, and "failed" with the error as `detail`. */
export class Speaker extends EventTarget {
  #saying = null;

  /**
   * @param {import("./doors.js").Doors} doors
   * @param {import("./player.js").Player} player
   */
  constructor(doors, player) {
    super();
    this.doors = doors;
    this.player = player;
    for (const type of ["started", "underrun"]) player.addEventListener(type, ({ detail }) => this.#heard(type, detail));
  }

  /** @returns {import("./saying.js").State | "idle"} */
  get state() {
    return this.#saying?.state ?? "idle";
  }

  get active() {
    return ACTIVE.has(this.state);
  }

  /** Whether the text being said can still be added to. */
  get open() {
    return this.active && (this.#saying?.open ?? false);
  }

  /** @returns {import("./saying.js").Figures | null} of the text being said, or the last one. */
  get figures() {
    return this.#saying?.figures ?? null;
  }

  /** Where in the server's queue the text waits; null where it does not. */
  get place() {
    return this.#saying?.place ?? null;
  }

  /** What became of the text being said, or of the last one. @returns {import("./story.js").Story | null} */
  get story() {
    return this.#saying?.story ?? null;
  }

  /** Whether the word times of this text are the engine's own. */
  get exact() {
    return this.#saying?.exact ?? true;
  }

  /** The latest word that has begun to sound, and whether it is still heard. */
  word() {
    return this.#saying?.word() ?? { last: null, lit: false };
  }

  /**
   * Says a text; whatever was being said stops. Call synchronously in the user's click.
   * @param {import("./speech.js").Wanted} wanted with `stream`, `write` adds to it until `end`.
   * @param {number} clickedMs when the user asked, on the clock of `performance.now()`.
   */
  async speak(wanted, clickedMs = performance.now()) {
    this.player.unlock();
    this.#saying?.stop();
    const saying = new Saying(clickedMs, (state) => this.#change(saying, state));
    this.#saying = saying;
    this.#change(saying, "waiting");
    try {
      await saying.run(this.doors, this.player, wanted);
    } catch (error) {
      if (!saying.stopped) this.#fail(saying, error);
    }
    this.#change(saying, saying.state);
    const outcome = await saying.finish();
    if (saying.stopped) this.#change(saying, "stopped");
    else this.#change(saying, saying.error ? "failed" : outcome);
  }

  /** Adds to the streamed text that is being said. */
  write(text) {
    this.#saying?.write(text);
  }

  /** What was written so far is to be said now. */
  flush() {
    this.#saying?.flush();
  }

  /** Nothing more will be written. */
  end() {
    this.#saying?.end();
  }

  /** Silence at once; the request is dropped. */
  stop() {
    const saying = this.#saying;
    if (!this.active) return;
    saying.stop();
    this.#change(saying, "stopped");
  }

  #fail(saying, error) {
    saying.fail(error);
    this.dispatchEvent(new CustomEvent("failed", { detail: error }));
  }

  #heard(type, playback) {
    if (playback !== this.#saying?.playback) return;
    this.#change(this.#saying, type === "started" ? "speaking" : this.#saying.state);
  }

  #change(saying, state) {
    saying.state = state;
    if (saying === this.#saying) this.dispatchEvent(new Event("change"));
  }
}
