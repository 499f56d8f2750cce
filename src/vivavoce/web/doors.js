/** Speech through the socket, or over plain HTTP where a network lets no WebSocket pass. No DOM. */

import { STREAM_RATE_HZ } from "./api.js";
import { Client } from "./client.js";
import { ApiError } from "./errors.js";

/** A network that let no socket through is not asked again for this long. */
const BLOCKED_FOR_MS = 30_000;

const NO_STREAM =
  "Speaking while you type needs a WebSocket, and none gets through here. Switch it off, and Speak still works.";

export class Doors {
  #blockedUntilMs = 0;

  /** @param {import("./api.js").Api} api whose key both doors use. */
  constructor(api) {
    this.api = api;
    this.client = new Client(new URL("ws/synthesize", api.baseUrl), { secret: () => this.#secret() });
  }

  /** Opens the socket before it is needed. */
  prepare() {
    if (performance.now() > this.#blockedUntilMs) this.#connect().catch(() => {});
  }

  /** Forgets the socket, which was opened with another key. */
  renew() {
    this.client.close();
    this.#blockedUntilMs = 0;
  }

  /**
   * Says a text through the door that is open.
   * @param {import("./speech.js").Wanted} wanted
   * @returns {Promise<import("./speech.js").Speech | HttpSpeech>}
   */
  async say(wanted) {
    if (wanted.stream || performance.now() > this.#blockedUntilMs) {
      try {
        await this.#connect();
        return this.client.speak({ ...wanted, sample_rate: STREAM_RATE_HZ });
      } catch (error) {
        if (error.code !== "connection_failed") throw error;
        if (wanted.stream) throw new ApiError(NO_STREAM, { code: "socket_blocked" });
      }
    }
    return new HttpSpeech(this.api, wanted);
  }

  async #connect() {
    try {
      return await this.client.connect();
    } catch (error) {
      if (error.code === "connection_failed") this.#blockedUntilMs = performance.now() + BLOCKED_FOR_MS;
      throw error;
    }
  }

  /** A token rather than the key itself, since proxies write down what stands in a handshake. */
  async #secret() {
    if (!this.api.key) return {};
    const token = await this.api.token();
    return token ? { token } : { key: this.api.key };
  }
}

/** One utterance over HTTP, which tells what a `Speech` tells; it can neither be added to nor go on after a loss. */
class HttpSpeech {
  #aborter = new AbortController();

  constructor(api, { text, instruct, stream: _stream, ...rest }) {
    this.events = this.#events(api, { input: text, instructions: instruct || undefined, ...rest });
  }

  [Symbol.asyncIterator]() {
    return this.events;
  }

  async *#events(api, request) {
    const pieces = await api.stream(request, this.#aborter.signal);
    yield { type: "start", sample_rate: STREAM_RATE_HZ, atMs: performance.now() };
    for await (const { samples, words } of pieces) {
      yield { type: "words", words };
      yield { type: "audio", samples, atMs: performance.now() };
    }
  }

  write() {}

  flush() {}

  end() {}

  played() {}

  cancel() {
    this.#aborter.abort();
  }
}
