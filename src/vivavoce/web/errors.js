/** What can go wrong between the page and the server. No DOM. */

/** What went wrong, in the server's words; `status` is 0 where there was no answer at all. */
export class ApiError extends Error {
  constructor(message, { status = 0, code = "", param = null, retryAfterS = null } = {}) {
    super(message);
    this.name = "ApiError";
    /** Whether the same request can succeed a moment later. */
    this.retryable = false;
    Object.assign(this, { status, code, param, retryAfterS });
  }

  /** @param {unknown} body OpenAI's envelope, or anything else. */
  static from(body, status = 0, retryAfterS = null) {
    const error = body?.error ?? {};
    const message = typeof error === "string" ? error : error.message;
    const fallback = status ? `The server answered ${status}.` : "Speech broke off.";
    return new ApiError(message || fallback, { status, code: error.code ?? "", param: error.param, retryAfterS });
  }
}

/** The server cannot be reached. */
export function unreachable(message = "The connection to the server failed.") {
  const error = new ApiError(message, { code: "connection_failed" });
  error.retryable = true;
  return error;
}
