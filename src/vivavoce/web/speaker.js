/** Says texts: asks the server for speech and plays it while it comes. No DOM. */

import { STREAM_RATE_HZ } from "./api.js";
import { WordTrack } from "./words.js";

/**
 * @typedef {"waiting" | "speaking" | "played" | "stopped" | "failed"} State
 * @typedef {{firstSoundMs: number | null, lengthMs: number, rtf: number | null, gaps: number}} Figures
 */

/** One text being said, from the click to its last sound. */
class Saying {
  #aborter = new AbortController();
  #playback = null;
  #words = new WordTrack();
  #startedMs;
  #rtf = null;

  constructor(startedMs) {
    this.#startedMs = startedMs;
    /** @type {State} */
    this.state = "waiting";
    this.error = null;
    /** Whether every word time came from the engine itself. */
    this.exact = true;
    this.stopped = false;
  }

  /** @returns {Figures} */
  get figures() {
    const first = this.#playback?.firstSoundMs ?? null;
    return {
      firstSoundMs: first === null ? null : Math.max(0, first - this.#startedMs),
      lengthMs: this.#playback?.writtenMs ?? 0,
      rtf: this.#rtf,
      gaps: this.#playback?.underruns ?? 0,
    };
  }

  get playback() {
    return this.#playback;
  }

  word() {
    return this.#playback ? this.#words.at(this.#playback.heardMs) : { last: null, lit: false };
  }

  async run(api, player, request) {
    const askedMs = performance.now();
    const asked = api.stream(request, this.#aborter.signal);
    const [pieces, playback] = await Promise.all([asked, player.prepare().then(() => this.#begin(player))]);
    for await (const { samples, words } of pieces) {
      this.#words.add(words);
      this.exact &&= words.every((word) => word.exact !== false);
      if (!(await playback.write(samples))) return;
    }
    const spentMs = performance.now() - askedMs - playback.heldBackMs;
    this.#rtf = playback.writtenMs > 0 ? spentMs / playback.writtenMs : null;
  }

  async #begin(player) {
    if (this.stopped) throw new DOMException("stopped", "AbortError");
    this.#playback = await player.play(STREAM_RATE_HZ);
    return this.#playback;
  }

  /** Lets what was received play out. */
  async finish() {
    this.#playback?.end();
    return this.#playback ? this.#playback.finished : "played";
  }

  fail(error) {
    this.error = error;
    this.#aborter.abort();
  }

  stop() {
    this.stopped = true;
    this.#aborter.abort();
    this.#playback?.stop();
  }
}

/** Fires "change" whenever `state` or `figures` may have changed, and "failed" with the error as `detail`. */
export class Speaker extends EventTarget {
  #saying = null;

  /**
   * @param {import("./api.js").Api} api
   * @param {import("./player.js").Player} player
   */
  constructor(api, player) {
    super();
    this.api = api;
    this.player = player;
    for (const type of ["started", "underrun"]) player.addEventListener(type, ({ detail }) => this.#heard(type, detail));
  }

  /** @returns {State | "idle"} */
  get state() {
    return this.#saying?.state ?? "idle";
  }

  get active() {
    return this.state === "waiting" || this.state === "speaking";
  }

  /** @returns {Figures | null} of the text being said, or the last one. */
  get figures() {
    return this.#saying?.figures ?? null;
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
   * @param {import("./api.js").SpeechRequest} request
   * @param {number} clickedMs when the user asked, on the clock of `performance.now()`.
   */
  async speak(request, clickedMs = performance.now()) {
    this.player.unlock();
    this.#saying?.stop();
    const saying = new Saying(clickedMs);
    this.#saying = saying;
    this.#change(saying, "waiting");
    try {
      await saying.run(this.api, this.player, request);
    } catch (error) {
      if (!saying.stopped) this.#fail(saying, error);
    }
    this.#change(saying, saying.state);
    const outcome = await saying.finish();
    if (saying.stopped) this.#change(saying, "stopped");
    else this.#change(saying, saying.error ? "failed" : outcome);
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
