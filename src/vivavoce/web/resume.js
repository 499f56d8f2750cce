/** Where speech goes on after its connection broke. No DOM. */

/** Word times are told to the millisecond; a sample at the seam decides nothing. */
const SLACK_MS = 2;

/** What may follow a word without being one itself. */
const AFTER_WORD = /^[\s.,;:!?…。！？、，；：।؟،"'”’»)\]}]+/u;

/** The words of one leg of speech that matter for going on: those not wholly received, and the last that was. */
export class Received {
  #words = [];
  #last = null;
  #whole = true;
  /** Sound received, in ms of this leg. */
  ms = 0;

  /** @param {import("./words.js").Word[]} words in the order they are heard. */
  add(words) {
    this.#words.push(...words);
    this.#settle();
  }

  /** Takes the length of what has come so far. */
  extend(ms) {
    this.ms = ms;
    this.#whole = false;
    this.#settle();
  }

  /** Everything of the segments told so far has come: nothing of an untold word is in it. */
  complete() {
    this.#whole = true;
  }

  #settle() {
    let past = 0;
    while (past < this.#words.length && this.#words[past].end_ms <= this.ms + SLACK_MS) past += 1;
    if (past > 0) this.#last = this.#words.splice(0, past)[past - 1];
  }

  /**
   * The first word that was not received whole, and where to cut off what was received of it.
   * @param {string} text from its code point 0.
   * @param {number} from where this leg began, in code points.
   * @returns {{offset: number, cutMs: number, text: string}} `offset` counts code points of the whole text, `cutMs`
   *   time of this leg; an empty `text` means that nothing is left to say.
   */
  restOf(text, from) {
    const next = this.#words[0];
    const characters = [...text];
    if (next) {
      return { offset: next.start, cutMs: Math.min(this.ms, next.start_ms), text: characters.slice(next.start).join("") };
    }
    if (!this.#last) return { offset: from, cutMs: 0, text: characters.slice(from).join("") };
    const rest = characters.slice(this.#last.end).join("");
    const between = [...(AFTER_WORD.exec(rest)?.[0] ?? "")].length;
    return {
      offset: this.#last.end + between,
      cutMs: this.#whole ? this.ms : Math.min(this.ms, this.#last.end_ms),
      text: [...rest].slice(between).join(""),
    };
  }
}
