/** The server's numbers, live: one stream of them, opened again when it breaks, closed while nobody looks. No DOM. */

/** Wait before the next try, doubled up to the longest. */
const FIRST_WAIT_MS = 1_000;
const LONGEST_WAIT_MS = 15_000;

/** Seconds of history kept. */
const KEPT = 180;

/** @typedef {{ttfaMs: number | null, ttfa95Ms: number | null, rtf: number | null, streams: number, queue: number,
 *   capacity: number}} Sample One moment; null where nothing was seen. */

/** Fires "change" with every new number, and when the stream breaks. */
export class Stats extends EventTarget {
  #aborter = null;
  #failures = 0;

  /** @param {import("./api.js").Api} api */
  constructor(api) {
    super();
    this.api = api;
    /** @type {Sample[]} the latest last. */
    this.history = [];
    /** What the server said last; null before it said anything. */
    this.latest = null;
    /** @type {"connecting" | "live" | "broken" | "missing"} */
    this.state = "connecting";
  }

  /** Listens until `pause`. */
  async resume() {
    if (this.#aborter) return;
    const aborter = new AbortController();
    this.#aborter = aborter;
    while (!aborter.signal.aborted) {
      const error = await this.#listen(aborter.signal);
      if (aborter.signal.aborted) return;
      this.#become(isRefusal(error) ? "missing" : "broken");
      if (this.state === "missing") return;
      this.#failures += 1;
      await sleep(Math.min(LONGEST_WAIT_MS, FIRST_WAIT_MS * 2 ** (this.#failures - 1)), aborter.signal);
    }
  }

  /** Hangs up. */
  pause() {
    this.#aborter?.abort();
    this.#aborter = null;
  }

  /** @returns {Promise<Error | null>} why it ended. */
  async #listen(signal) {
    try {
      for await (const numbers of await this.api.stats(signal)) {
        this.#failures = 0;
        this.#take(numbers);
      }
      return null;
    } catch (error) {
      return error;
    }
  }

  /** A server that tells its own history needs none kept for it. */
  #take(numbers) {
    const now = sampleOf(numbers);
    const past = numbers.history ? numbers.history.map(pastOf) : this.history;
    this.history = [...past, now].slice(-KEPT);
    this.latest = numbers;
    this.#become("live");
  }

  #become(state) {
    this.state = state;
    this.dispatchEvent(new Event("change"));
  }
}

/** A server without this door, or one that does not open it to us, is not asked again by itself. */
function isRefusal(error) {
  return error?.status >= 400 && error.status < 500 && error.status !== 429;
}

function sampleOf({ ttfa_ms: ttfa, rtf, streams = 0, queue = 0, capacity = 0 }) {
  return { ttfaMs: ttfa?.p50 ?? null, ttfa95Ms: ttfa?.p95 ?? null, rtf: rtf?.p50 ?? null, streams, queue, capacity };
}

function pastOf({ ttfa_p50_ms: ttfaMs, ttfa_p95_ms: ttfa95Ms, rtf_p50: rtf, streams = 0, queue = 0, capacity = 0 }) {
  return { ttfaMs: ttfaMs ?? null, ttfa95Ms: ttfa95Ms ?? null, rtf: rtf ?? null, streams, queue, capacity };
}

function sleep(ms, signal) {
  return new Promise((resolve) => {
    const timer = setTimeout(resolve, ms);
    signal.addEventListener("abort", () => {
      clearTimeout(timer);
      resolve();
    });
  });
}
