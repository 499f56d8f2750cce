/**
 * A client of WS /ws/synthesize: one connection, kept for the next text, and speech that survives its loss. No DOM.
 *
 *     const client = new Client("https://voice.example/ws/synthesize");
 *     for await (const event of client.speak({ text: "Hello.", sample_rate: 24000 })) …
 */

import { Connection } from "./connection.js";
import { Speech } from "./speech.js";
import { protocolsOf } from "./wire.js";

/** Waits between tries: from the first, doubled each time up to the last, each shortened by chance up to a half. */
const FIRST_WAIT_MS = 250;
const LONGEST_WAIT_MS = 8_000;

/** Tries without a sound between them before speech is given up. */
const TRIES = 8;

const pause = (ms) => new Promise((resolve) => setTimeout(resolve, ms));

export class Client {
  #connecting = null;
  #connection = null;
  #count = 0;
  #epoch = 0;

  /**
   * @param {string | URL} url http(s) or ws(s).
   * @param {{secret?: () => Promise<{key?: string, token?: string}>, random?: () => number, Socket?: typeof WebSocket}}
   *   options `secret` is asked before each connection.
   */
  constructor(url, { secret = async () => ({}), random = Math.random, Socket = globalThis.WebSocket } = {}) {
    this.url = new URL(url);
    this.url.protocol = this.url.protocol.replace("http", "ws");
    Object.assign(this, { secret, random, Socket });
  }

  /** The connection there is, or a new one. Rejects with ApiError; `connection_failed` where no socket opens. */
  async connect() {
    if (this.#connection?.alive) return this.#connection;
    this.#connecting ??= this.#open();
    return this.#connecting;
  }

  #open() {
    const opening = this.#opened().finally(() => {
      if (this.#connecting === opening) this.#connecting = null;
    });
    return opening;
  }

  /** One that was given up while it opened is of no use any more. */
  async #opened() {
    const epoch = this.#epoch;
    const connection = await Connection.open(this.url, protocolsOf(await this.secret()), this.Socket);
    if (epoch === this.#epoch) this.#connection = connection;
    else connection.close();
    return connection;
  }

  /** Frames that came too late and were dropped. */
  get stale() {
    return this.#connection?.stale ?? 0;
  }

  /** Gives the connection up, for another key or for good. */
  close() {
    this.#epoch += 1;
    this.#connection?.close();
    this.#connection = this.#connecting = null;
  }

  /**
   * Says a text; the request leaves at once where there is a connection.
   * @param {import("./speech.js").Wanted} wanted
   * @returns {Speech}
   */
  speak(wanted) {
    this.#count += 1;
    const speech = new Speech(`s${this.#count}`, wanted);
    this.#run(speech).catch((error) => speech.fail(error));
    return speech;
  }

  async #run(speech) {
    for (let failures = 0; !speech.over; ) {
      const { done, error, progress } = await this.#leg(speech);
      if (done) return;
      failures = progress ? 1 : failures + 1;
      if (!this.#worthwhile(error, failures, speech)) throw error;
      speech.suspend(error);
      await pause(Math.max(this.#wait(failures), (error.retryAfterS ?? 0) * 1000));
    }
  }

  async #leg(speech) {
    try {
      return await speech.run(await this.connect());
    } catch (error) {
      return { done: false, error, progress: false };
    }
  }

  /** A refusal before the first sound is the user's to hear; after it, speech tries to go on. */
  #worthwhile(error, failures, speech) {
    if (!error?.retryable || failures > TRIES) return false;
    return speech.begun || error.code === "connection_failed";
  }

  #wait(failures) {
    const longest = Math.min(LONGEST_WAIT_MS, FIRST_WAIT_MS * 2 ** (failures - 1));
    return longest * (1 - this.random() / 2);
  }
}
