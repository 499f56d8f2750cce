/** One text being said, from the click to its last sound. No DOM. */

import { Story } from "./story.js";
import { WordTrack } from "./words.js";

/**
 * @typedef {"waiting" | "queued" | "retrying" | "speaking" | "resuming" | "played" | "stopped" | "failed"} State
 * @typedef {{firstSoundMs: number | null, lengthMs: number, rtf: number | null, gaps: number, cushionMs: number}} Figures
 */

/** Where a sentence ends, the server speaks without being asked. */
const SENTENCE_END = /[。！？\n]|[.!?…؟।]["'”’»)\]]*\s/u;

export class Saying {
  #speech = null;
  #playback = null;
  #words = new WordTrack();
  #startedMs;
  #askedMs = 0;
  #rtf = null;
  #cutMs = 0;
  #pending = [];
  #written = "";
  #spoken = 0;
  #flushed = false;

  /**
   * @param {number} startedMs when the user asked, on the clock of `performance.now()`.
   * @param {(state: State) => void} change is called whenever anything about it may have changed.
   */
  constructor(startedMs, change) {
    this.#startedMs = startedMs;
    this.change = change;
    /** @type {State} */
    this.state = "waiting";
    this.error = null;
    /** Whether every word time came from the engine itself. */
    this.exact = true;
    this.stopped = false;
    /** Whether more text may be written. */
    this.open = false;
    /** Where in the queue it waits, from 1. @type {{position: number, expectedMs: number} | null} */
    this.place = null;
    /** What became of it, for the timeline. */
    this.story = new Story();
  }

  /** @returns {Figures} */
  get figures() {
    const first = this.#playback?.firstSoundMs ?? null;
    return {
      firstSoundMs: first === null ? null : Math.max(0, first - this.#startedMs),
      lengthMs: this.#playback?.writtenMs ?? 0,
      rtf: this.#rtf,
      gaps: this.#playback?.underruns ?? 0,
      cushionMs: this.#playback?.cushionMs ?? 0,
    };
  }

  get playback() {
    return this.#playback;
  }

  /** The latest word that has begun to sound, and whether it is still heard. */
  word() {
    return this.#playback ? this.#words.at(this.#playback.heardMs) : { last: null, lit: false };
  }

  /**
   * Says it.
   * @param {import("./doors.js").Doors} doors
   * @param {import("./player.js").Player} player
   * @param {import("./speech.js").Wanted} wanted
   */
  async run(doors, player, wanted) {
    this.#askedMs = performance.now();
    this.story.begin(this.#askedMs);
    const ready = player.prepare();
    ready.catch(() => {});
    this.#written = wanted.text;
    this.open = wanted.stream ?? false;
    const speech = await doors.say(wanted);
    this.#speech = speech;
    if (this.stopped) return speech.cancel();
    for (const action of this.#pending) action(speech);
    await ready.catch((error) => {
      speech.cancel();
      throw error;
    });
    for await (const event of speech) if (!(await this.#take(event, player))) return speech.cancel();
    return this.#measure();
  }

  /** Adds to a streamed text; while no door is open yet, it waits. */
  write(text) {
    this.#written += text;
    this.#flushed = false;
    this.#with((speech) => speech.write(text));
    if (!this.#writersTurn) this.#playback?.expect();
  }

  flush() {
    this.#flushed = true;
    this.#with((speech) => speech.flush());
    if (!this.#writersTurn) this.#playback?.expect();
  }

  end() {
    this.open = false;
    this.#with((speech) => speech.end());
  }

  #with(action) {
    if (this.#speech) action(this.#speech);
    else this.#pending.push(action);
  }

  /** @returns {Promise<boolean>} false once it is stopped. */
  async #take(event, player) {
    if (this.stopped) return false;
    this.story.add(event);
    if (event.type === "audio") return this.#playback.write(event.samples);
    if (event.type === "words") this.#addWords(event.words);
    if (event.type === "start") await this.#start(event, player);
    if (event.type === "queued") this.#wait(event);
    if (event.type === "lost") this.#lost();
    if (event.type === "segment_end") this.#rest(event.index);
    if (event.type === "cut") this.#cut(event.ms);
    if (event.type === "done") this.#rtf = event.rtf ?? null;
    return !this.stopped;
  }

  async #start({ sample_rate: rateHz }, player) {
    this.place = null;
    this.change(typeof this.#playback?.firstSoundMs === "number" ? "speaking" : "waiting");
    if (this.#playback && this.#playback.rateHz !== rateHz) throw new Error("The server changed the rate of its speech.");
    if (this.#playback) return;
    this.#playback = await player.play(rateHz);
    this.#playback.progressed = () => this.#progressed(this.#playback);
  }

  #progressed({ heardMs, firstSoundMs }) {
    this.#speech.played(heardMs - this.#cutMs);
    if (firstSoundMs !== null) this.story.heard(heardMs, performance.now() - firstSoundMs);
  }

  #addWords(words) {
    this.exact &&= words.every((word) => word.exact !== false);
    const shift = this.#cutMs;
    this.#words.add(words.map((word) => ({ ...word, start_ms: word.start_ms + shift, end_ms: word.end_ms + shift })));
  }

  #wait({ position, expected_ms: expectedMs }) {
    this.place = { position, expectedMs };
    this.change("queued");
  }

  #lost() {
    this.place = null;
    this.change(this.#playback ? "resuming" : "retrying");
  }

  #rest(index) {
    this.#spoken = this.story.segments.findLast((one) => one.index === index)?.end ?? this.#spoken;
    if (this.#writersTurn) this.#playback?.rest();
  }

  /** Silence is the writer's where all that was written is spoken, or what is left is a sentence in the making. */
  get #writersTurn() {
    const left = [...this.#written].slice(this.#spoken).join("");
    return left.trim() === "" || (this.open && !this.#flushed && !SENTENCE_END.test(left));
  }

  /** What comes next begins where the last whole word ended. */
  #cut(ms) {
    this.#cutMs = this.#playback.cut(this.#cutMs + ms);
    this.#words.cut(this.#cutMs);
    this.story.cut(this.#cutMs);
  }

  #measure() {
    const { writtenMs = 0, heldBackMs = 0 } = this.#playback ?? {};
    this.#rtf ??= writtenMs > 0 ? (performance.now() - this.#askedMs - heldBackMs) / writtenMs : null;
  }

  /** Lets what was received play out. */
  async finish() {
    this.#playback?.end();
    return this.#playback ? this.#playback.finished : "played";
  }

  fail(error) {
    this.error = error;
    this.#speech?.cancel();
  }

  stop() {
    this.stopped = true;
    this.#speech?.cancel();
    this.#playback?.stop();
  }
}
