/** The wire of `vivavoce.v1`: its names, its frames, and what a closed socket means. No DOM. */

import { ApiError } from "./errors.js";
import { samplesOf } from "./pcm.js";

export const PROTOCOL = "vivavoce.v1";

/** Before the PCM of every binary frame: generation (u32), flags (u32), offset of the first sample (u64). */
const HEADER_BYTES = 16;

/** Close codes after which the same request would be refused again. */
const FINAL = new Set([1003, 1007, 1009, 4400, 4401, 4413, 4429]);

const REASONS = {
  4401: { status: 401, code: "invalid_api_key", message: "The server does not take this API key." },
  4413: { code: "input_too_large", message: "The text is longer than the server takes." },
  4429: { code: "rate_limited", message: "This API key has used up what it may speak for now." },
};

/**
 * What to offer when a socket is opened; a secret travels as a subprotocol, since browsers can send no header.
 * @param {{key?: string, token?: string}} secret
 * @returns {string[]}
 */
export function protocolsOf({ key = "", token = "" } = {}) {
  if (token) return [PROTOCOL, `vivavoce.token.${token}`];
  return key ? [PROTOCOL, `vivavoce.key.${base64url(key)}`] : [PROTOCOL];
}

function base64url(text) {
  const bytes = new TextEncoder().encode(text);
  return btoa(String.fromCharCode(...bytes)).replaceAll("+", "-").replaceAll("/", "_").replace(/=+$/, "");
}

/**
 * @typedef {{generation: number, offset: number, samples: Int16Array}} Frame `offset` counts samples of the utterance.
 * @param {ArrayBuffer} buffer
 * @returns {Frame | null} null for what is no frame.
 */
export function frameOf(buffer) {
  if (buffer.byteLength < HEADER_BYTES) return null;
  const view = new DataView(buffer);
  return {
    generation: view.getUint32(0, true),
    offset: Number(view.getBigUint64(8, true)),
    samples: samplesOf(new Uint8Array(buffer, HEADER_BYTES)),
  };
}

/** @returns {object | null} the message of a text frame; null for what is none. */
export function messageOf(text) {
  try {
    const message = JSON.parse(text);
    return typeof message?.type === "string" ? message : null;
  } catch {
    return null;
  }
}

/**
 * Why a socket closed.
 * @param {number} code
 * @param {ApiError | null} told what the server said just before, if anything.
 * @returns {ApiError} `retryable` tells whether speech can go on over another socket.
 */
export function closedError(code, told = null) {
  const known = REASONS[code] ?? { code: "connection_failed", message: "The connection to the server was lost." };
  const error = new ApiError(told?.message || known.message, { ...known, code: known.code });
  error.retryAfterS = told?.retryAfterS ?? null;
  error.retryable = !FINAL.has(code);
  return error;
}

/** The error of an `error` or `busy` message. @returns {ApiError} */
export function toldError({ type, code = "", message = "Speech broke off.", param = null, retryable = false, ...more }) {
  const retryAfterS = more.retry_after_ms === undefined ? null : Math.ceil(more.retry_after_ms / 1000);
  const busy = { status: 503, code: more.reason === "rate_limited" ? "rate_limited" : "busy", retryAfterS };
  const error = new ApiError(message, type === "busy" ? busy : { code, param, retryAfterS });
  error.retryable = retryable || type === "busy";
  return error;
}
