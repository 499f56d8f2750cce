/** The server's HTTP doors, for a page. No DOM. */

import { ApiError, unreachable } from "./errors.js";
import { bytesOf, SampleReader } from "./pcm.js";
import { eventsOf } from "./sse.js";

/** The only place where the page states the rate of the speech it asks for and plays. */
export const STREAM_RATE_HZ = 24_000;

/**
 * @typedef {{input: string, voice?: string, language?: string, speed?: number, instructions?: string}} SpeechRequest
 * @typedef {{samples: Int16Array, words: import("./words.js").Word[]}} SpeechPiece
 */

export class Api {
  /** @param {string | URL} baseUrl where the doors are, with a slash at the end. */
  constructor(baseUrl) {
    this.baseUrl = baseUrl;
    /** Sent as a bearer token when it is not empty. */
    this.key = "";
  }

  /** @returns {Promise<object>} the answer of GET /v1/audio/voices, with the voices that are not installed. */
  async voices() {
    return (await this.#fetch("v1/audio/voices?all=true")).json();
  }

  /** @returns {Promise<object | null>} every language and the vocabulary of voice design; null from a server without. */
  async languages() {
    return this.#fetch("v1/languages").then((response) => response.json(), nullWhereMissing);
  }

  /** @returns {Promise<object>} the design as the server reads it, and the voice that comes nearest where it has none. */
  async design(instruct, language, signal) {
    return (await this.#post("v1/voices/design", { instruct, language }, signal)).json();
  }

  /** @returns {Promise<string>} a token for one connection; "" from a server that mints none, or none for this key. */
  async token() {
    const answer = await this.#post("v1/tokens", {}).then((response) => response.json(), nullWhereMissing);
    return answer?.token ?? "";
  }

  /** @returns {Promise<AsyncGenerator<object>>} the server's numbers, about once a second. */
  async stats(signal) {
    const response = await this.#fetch("stats/stream", { headers: { Accept: "text/event-stream" }, signal });
    return numbersOf(response.body);
  }

  /** @returns {Promise<object>} segments, the words spoken for them and the rule behind each. */
  async explain(text, language, signal) {
    return (await this.#post("v1/text/explain", { input: text, language }, signal)).json();
  }

  /**
   * Speech while it is made. The request leaves at once.
   * @param {SpeechRequest} request
   * @param {AbortSignal} signal
   * @returns {Promise<AsyncGenerator<SpeechPiece>>} resolves with the first byte of the answer; the generator throws
   *   ApiError if speech ends before its time.
   */
  async stream(request, signal) {
    const streaming = { response_format: "pcm", stream_format: "sse", sample_rate: STREAM_RATE_HZ };
    const response = await this.#post("v1/audio/speech", { ...request, ...streaming, word_timestamps: true }, signal);
    return piecesOf(response.body);
  }

  /**
   * The whole file, with exact lengths in its header.
   * @param {SpeechRequest} request
   * @param {string} format wav, mp3, opus, flac, aac or pcm.
   * @returns {Promise<Blob>}
   */
  async file(request, format, signal) {
    const whole = { ...request, response_format: format, stream: false };
    return (await this.#post("v1/audio/speech", whole, signal)).blob();
  }

  #post(path, body, signal) {
    const headers = { "Content-Type": "application/json" };
    return this.#fetch(path, { method: "POST", headers, body: JSON.stringify(body), signal });
  }

  async #fetch(path, options = {}) {
    const headers = { ...options.headers, ...(this.key && { Authorization: `Bearer ${this.key}` }) };
    const response = await fetch(new URL(path, this.baseUrl), { ...options, headers, cache: "no-store" }).catch(rethrow);
    if (response.ok) return response;
    const body = await response.json().catch(() => null);
    throw ApiError.from(body, response.status, Number(response.headers.get("Retry-After")) || null);
  }
}

/** An abort stays what it is; every other failure of the network becomes an ApiError. */
function rethrow(error) {
  if (error.name === "AbortError") throw error;
  throw unreachable();
}

function nullWhereMissing(error) {
  if (![403, 404, 405].includes(error.status)) throw error;
  return null;
}

async function* numbersOf(body) {
  for await (const data of eventsOf(body)) yield JSON.parse(data);
}

async function* piecesOf(body) {
  const reader = new SampleReader();
  const events = eventsOf(body);
  try {
    for (;;) {
      const { done, value } = await events.next().catch(rethrow);
      if (done) throw unreachable("The connection broke off before the end of the speech.");
      if (value === "[DONE]") return;
      const event = JSON.parse(value);
      if (event.type === "speech.audio.done") return;
      if (event.type === "speech.audio.error") throw ApiError.from(event);
      if (event.type === "speech.audio.delta") {
        yield { samples: reader.feed(bytesOf(event.audio ?? "")), words: event.words ?? [] };
      }
    }
  } finally {
    events.return();
  }
}
