/** The server's numbers, live: one stream of them, opened again when it breaks, closed while nobody looks. No DOM. */

/** Wait before the next try, doubled up to the longest. */
const FIRST_WAIT_MS = 1_000;
const LONGEST_WAIT_MS = 15_000;

/** Seconds of history shown. */
export const SHOWN_S = 180;

/** Numbers that come a little late leave no hole. */
const LATE_S = 2;

/** @typedef {{ttfaMs: number | null, ttfa95Ms: number | null, rtf: number | null, streams: number | null,
 *   queue: number | null, capacity: number | null}} Sample One second; null where nothing was seen. */

/** @type {Sample} */
const UNSEEN = { ttfaMs: null, ttfa95Ms: null, rtf: null, streams: null, queue: null, capacity: null };

/** Fires "change" with every new number, and when the stream breaks. */
export class Stats extends EventTarget {
  #aborter = null;
  #failures = 0;
  #samples = new Map();
  #lastS = 0;

  /** @param {import("./api.js").Api} api */
  constructor(api) {
    super();
    this.api = api;
    /** The last seconds, one by one, the latest last; shorter while there are not so many. @type {Sample[]} */
    this.history = [];
    /** What the server said last; null before it said anything. */
    this.latest = null;
    /** @type {"connecting" | "live" | "broken" | "locked" | "missing"} */
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
      if (isRefusal(error)) {
        this.#aborter = null;
        this.#become(error.status === 401 ? "locked" : "missing");
        return;
      }
      this.#become("broken");
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

  /**
   * A server tells the whole history that it has at first, which fills what was missed while nobody looked, and then
   * what is new. For one that tells none it is made here.
   */
  #take(numbers) {
    for (const past of numbers.history ?? []) {
      if (Number.isFinite(past.time_s)) this.#keep(Math.round(past.time_s), pastOf(past));
    }
    if (!numbers.history) this.#keep(Math.max(this.#lastS + 1, Math.round(Date.now() / 1000)), sampleOf(numbers));
    this.history = this.#seconds();
    this.latest = numbers;
    this.#become("live");
  }

  #keep(second, sample) {
    this.#samples.set(second, sample);
    this.#lastS = Math.max(this.#lastS, second);
  }

  #seconds() {
    if (this.#samples.size === 0) return [];
    const first = this.#lastS - SHOWN_S + 1;
    for (const second of this.#samples.keys()) if (second < first) this.#samples.delete(second);
    const begin = Math.min(...this.#samples.keys());
    return Array.from({ length: this.#lastS - begin + 1 }, (_, n) => this.#at(begin + n));
  }

  #at(second) {
    for (let late = 0; late <= LATE_S; late += 1) {
      const sample = this.#samples.get(second - late);
      if (sample) return sample;
    }
    return UNSEEN;
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
