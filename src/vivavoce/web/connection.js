/** One WebSocket to the server, shared by the utterances that run on it. No DOM. */

import { unreachable } from "./errors.js";
import { closedError, frameOf, messageOf, PROTOCOL, toldError } from "./wire.js";

/** Without a word for this long while speech is under way the server is asked whether it is still there. */
const QUIET_MS = 8_000;

/** Time to open, and to answer such a question. */
const PATIENCE_MS = 4_000;

/**
 * @typedef {{message: (message: object) => void, audio: (frame: import("./wire.js").Frame) => void,
 *   lost: (error: import("./errors.js").ApiError, token?: string) => void}} Listener
 */

export class Connection {
  #socket;
  #listeners = new Map();
  #generations = new Map();
  #told = null;
  #heardMs = performance.now();
  #watch = 0;

  /** @param {WebSocket} socket that is open. */
  constructor(socket) {
    this.#socket = socket;
    this.alive = true;
    /** Frames of utterances that are over, dropped without being heard. */
    this.stale = 0;
    socket.onmessage = ({ data }) => this.#receive(data);
    socket.onclose = ({ code }) => this.#close(closedError(code, this.#told));
  }

  /**
   * @param {URL} url
   * @param {string[]} protocols
   * @param {typeof WebSocket} Socket
   * @returns {Promise<Connection>} rejects with ApiError `connection_failed` where no socket opens.
   */
  static async open(url, protocols, Socket) {
    const socket = made(url, protocols, Socket);
    const isOpen = socket !== null && (await opened(socket));
    if (isOpen && socket.protocol === PROTOCOL) return new Connection(socket);
    socket?.close();
    throw unreachable();
  }

  send(message) {
    if (this.alive) this.#socket.send(JSON.stringify(message));
  }

  /** From now on what is said of this utterance goes to its listener. */
  join(id, listener) {
    if (!this.alive) {
      queueMicrotask(() => listener.lost(unreachable()));
      return;
    }
    this.#listeners.set(id, listener);
    this.#heardMs = performance.now();
    clearInterval(this.#watch);
    this.#watch = setInterval(() => this.#look(), PATIENCE_MS / 4);
  }

  /** Nothing of this utterance is heard any more. */
  leave(id) {
    this.#listeners.delete(id);
    for (const [generation, owner] of this.#generations) if (owner === id) this.#generations.delete(generation);
    if (this.#listeners.size === 0) clearInterval(this.#watch);
  }

  /** Gives the connection up; every utterance on it learns that it is lost. */
  close(error = unreachable()) {
    this.#close(error);
    this.#socket.close(1000);
  }

  #receive(data) {
    if (!this.alive) return;
    this.#heardMs = performance.now();
    if (typeof data !== "string") this.#audio(frameOf(data));
    else this.#message(messageOf(data));
  }

  #audio(frame) {
    const listener = this.#listeners.get(this.#generations.get(frame?.generation));
    if (listener) listener.audio(frame);
    else this.stale += 1;
  }

  #message(message) {
    if (message === null) return;
    if (message.type === "going_away") {
      this.#leaveGently(message);
      return;
    }
    const listener = this.#listeners.get(message.request_id);
    if (message.type === "start" && listener) this.#generations.set(message.generation, message.request_id);
    if (listener) listener.message(message);
    else if (message.type === "error" && message.request_id === undefined) this.#told = toldError(message);
  }

  /** The server is about to go: whatever is not said yet is taken elsewhere at once. */
  #leaveGently({ retry_after_ms: retryAfterMs = 0, resume = [] }) {
    const tokens = new Map(resume.map(({ request_id: id, token }) => [id, token]));
    for (const [id, listener] of this.#listeners) listener.token?.(tokens.get(id));
    const error = unreachable("The server is restarting.");
    error.retryAfterS = retryAfterMs / 1000;
    this.close(error);
  }

  /** A connection that died without a word is noticed by asking. */
  #look() {
    const quietMs = performance.now() - this.#heardMs;
    if (quietMs > QUIET_MS + PATIENCE_MS) this.close();
    else if (quietMs > QUIET_MS) this.send({ type: "ping" });
  }

  #close(error) {
    if (!this.alive) return;
    this.alive = false;
    clearInterval(this.#watch);
    const listeners = [...this.#listeners.values()];
    this.#listeners.clear();
    this.#generations.clear();
    for (const listener of listeners) listener.lost(error);
  }
}

/** Null where this browser has no sockets, or may not open this one. */
function made(url, protocols, Socket) {
  try {
    return new Socket(url, protocols);
  } catch {
    return null;
  }
}

/** @returns {Promise<boolean>} whether it opens in time. */
function opened(socket) {
  return new Promise((resolve) => {
    setTimeout(resolve, PATIENCE_MS, false);
    socket.binaryType = "arraybuffer";
    socket.onopen = () => resolve(true);
    socket.onclose = () => resolve(false);
  });
}
