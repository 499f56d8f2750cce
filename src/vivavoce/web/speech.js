/** One utterance over the socket, which goes on by itself after a lost connection. No DOM. */

import { ApiError } from "./errors.js";
import { Inbox } from "./inbox.js";
import { Received } from "./resume.js";
import { toldError } from "./wire.js";

/** The listener's place is told this often, and an answer to a request awaited this long. */
const PLAYED_EVERY_MS = 200;
const ANSWER_MS = 4_000;

/**
 * @typedef {{text: string, stream?: boolean, language?: string, voice?: string, instruct?: string, speed?: number,
 *   sample_rate?: number}} Wanted
 *
 * What a speech tells, besides the server's own messages (`queued`, `segment`, `segment_end`, `done`):
 * `start` {sample_rate}; `words` {words}, whose times count from the last `cut` (or the beginning), whose places from
 * the start of the whole text; `audio` {samples}; `lost` {error}: the connection broke, speech will go on;
 * `cut` {ms}: what was received from there on (ms since the last cut) is to be forgotten, for it comes again.
 */
export class Speech {
  #inbox = new Inbox();
  #text;
  #open;
  #wanted;
  #connection = null;
  #token = null;
  #leg = null;
  #rest;
  #playedAtMs = -Infinity;
  #flushed = false;

  /**
   * @param {string} id
   * @param {Wanted} wanted with `stream`, more text may be written until `end`.
   */
  constructor(id, wanted) {
    const { text, stream = false, ...rest } = wanted;
    this.id = id;
    this.#wanted = rest;
    this.#text = text;
    this.#open = stream;
    this.#rest = { offset: 0, text, before: "", silence_ms: 0 };
    /** Whether any of it was ever heard. */
    this.begun = false;
    /** Whether nothing more will come. */
    this.over = false;
  }

  [Symbol.asyncIterator]() {
    return this.#inbox[Symbol.asyncIterator]();
  }

  /** Adds to a streamed text. */
  write(text) {
    if (!this.#open || text === "") return;
    this.#text += text;
    this.#flushed = false;
    if (this.#leg) this.#send({ type: "text", text });
    else this.#rest.text += text;
  }

  /** What was written so far is to be said now, though no sentence ends there. */
  flush() {
    this.#flushed = true;
    if (this.#open && this.#leg) this.#send({ type: "flush" });
  }

  /** Nothing more will be written. */
  end() {
    if (!this.#open) return;
    this.#open = false;
    if (this.#leg) this.#send({ type: "end" });
  }

  /** @param {number} ms of sound that the listener has heard since the last cut. */
  played(ms) {
    const now = performance.now();
    if (!this.#leg?.rateHz || now - this.#playedAtMs < PLAYED_EVERY_MS) return;
    this.#playedAtMs = now;
    this.#send({ type: "played", ms: Math.round(Math.max(0, ms)) });
  }

  /** Ends it at once: the server is told, and nothing that still comes is heard. */
  cancel() {
    if (this.over) return;
    if (this.#leg) this.#send({ type: "cancel" });
    this.#leg?.settle({ done: true });
    this.#finish(null, true);
  }

  /** Ends it with an error, after what was received. */
  fail(error) {
    this.#finish(error);
  }

  /** A connection broke, or none could be had: speech will go on. */
  suspend(error) {
    this.#inbox.push({ type: "lost", error });
  }

  /**
   * Speaks what is left over this connection.
   * @param {import("./connection.js").Connection} connection
   * @returns {Promise<{done: boolean, progress?: boolean, error?: ApiError}>} not done where it can go on elsewhere.
   */
  async run(connection) {
    if (this.over) return { done: true };
    const leg = new Leg(this.#rest.offset);
    this.#leg = leg;
    this.#connection = connection;
    connection.join(this.id, {
      message: (message) => this.#message(leg, message),
      audio: (frame) => this.#audio(leg, frame),
      token: (token) => (this.#token = token ?? this.#token),
      lost: (error) => leg.settle({ done: false, error }),
    });
    this.#ask(leg);
    if (this.#flushed) this.flush();
    const unanswered = setTimeout(() => leg.answered || connection.close(), ANSWER_MS);
    const ended = await leg.ended;
    clearTimeout(unanswered);
    connection.leave(this.id);
    this.#leg = null;
    return ended.done ? ended : this.#broke(leg, ended.error);
  }

  #ask(leg) {
    const stream = this.#open;
    if (this.#token) {
      this.#send({ type: "resume", token: this.#token, ...this.#rest, stream });
      return;
    }
    leg.shift = this.#rest.offset;
    const asked = { text: this.#rest.text, stream, format: "pcm", framing: "header", word_timestamps: true };
    this.#send({ type: "synthesize", ...asked, ...this.#wanted });
  }

  /** Works out what is left after a broken leg. */
  #broke(leg, error) {
    const progress = leg.samples > 0;
    const { cutMs, rest } = leg.received.restOf(this.#text, leg.offset, this.#rest.silence_ms);
    this.#rest = rest;
    if (error.code === "bad_token") {
      this.#token = null;
      error.retryable = true;
    }
    if (progress && rest.text.trim() === "" && !this.#open) {
      this.#finish(null);
      return { done: true };
    }
    if (progress) this.#inbox.push({ type: "cut", ms: cutMs });
    return { done: false, progress, error };
  }

  #message(leg, message) {
    leg.answered = true;
    if (message.type === "start") this.#started(leg, message);
    else if (message.type === "words") this.#words(leg, message.words);
    else if (message.type === "busy" || message.type === "error") this.#refused(leg, toldError(message));
    else if (message.type === "done") this.#done(leg, message);
    else if (message.type === "accepted") leg.accepted = true;
    else if (message.type === "segment") this.#inbox.push({ ...placedIn(leg, message), atMs: performance.now() });
    else this.#inbox.push({ ...message, atMs: performance.now() });
    if (message.type === "segment_end") leg.received.complete();
  }

  /** What was never accepted gets no `done`. */
  #refused(leg, error) {
    leg.error = error;
    if (!leg.accepted) this.#done(leg, { type: "done", outcome: "error" });
  }

  #started(leg, message) {
    leg.rateHz = message.sample_rate;
    this.#token = message.resume_token ?? this.#token;
    this.#inbox.push({ ...message, atMs: performance.now() });
  }

  #words(leg, words) {
    const placed = words.map((word) => placedIn(leg, word));
    leg.received.add(placed);
    this.#inbox.push({ type: "words", words: placed });
  }

  /** Takes what is new in a frame: a part that was heard already is dropped. */
  #audio(leg, { offset, samples }) {
    const fresh = samples.subarray(Math.max(0, leg.samples - offset));
    if (fresh.length === 0) return;
    leg.samples += fresh.length;
    this.begun = true;
    leg.received.extend((leg.samples / leg.rateHz) * 1000);
    this.#inbox.push({ type: "audio", samples: fresh, atMs: performance.now() });
  }

  #done(leg, message) {
    this.#inbox.push({ ...message, atMs: performance.now() });
    const error = leg.error ?? (message.outcome === "ok" ? null : new ApiError("Speech broke off."));
    const over = message.outcome === "ok" || !(error.retryable || (error.code === "bad_token" && leg.offset > 0));
    if (over) this.#finish(error);
    leg.settle(over ? { done: true } : { done: false, error });
  }

  #finish(error, forget = false) {
    this.over = true;
    this.#open = false;
    if (forget) this.#inbox.clear();
    else this.#inbox.close(error);
  }

  #send(message) {
    this.#connection?.send({ request_id: this.id, ...message });
  }
}

/** Something that covers part of the text, placed in the whole of it. */
function placedIn(leg, { start, end, ...rest }) {
  return { ...rest, start: start + leg.shift, end: end + leg.shift };
}

/** One stay on one connection: from a request to its end or the connection's. */
class Leg {
  constructor(offset) {
    /** Where in the whole text it began, in code points. */
    this.offset = offset;
    /** What to add to the places of words, where the server counts from this leg's own first character. */
    this.shift = 0;
    this.received = new Received();
    this.samples = 0;
    this.rateHz = 0;
    this.error = null;
    this.answered = false;
    this.accepted = false;
    this.ended = new Promise((resolve) => {
      this.settle = resolve;
    });
  }
}
