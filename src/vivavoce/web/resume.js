/** Where speech goes on after its connection broke. No DOM. */

/** Word times are told to the millisecond; a sample at the seam decides nothing. */
const SLACK_MS = 2;

/** Of the text that was heard, so much tells the server what pause to go on with. */
const BEFORE_CHARACTERS = 100;

/** What may follow a word without being one itself. */
const AFTER_WORD = /^[\s.,;:!?…。！？、，；：।؟،"'”’»)\]}]+/u;

/** The words of one leg of speech that matter for going on: those not wholly received, and the last that was. */
export class Received {
  #words = [];
  #last = null;
  #whole = true;
  #segmentMs = 0;
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
    this.#segmentMs = this.ms;
  }

  #settle() {
    let past = 0;
    while (past < this.#words.length && this.#words[past].end_ms <= this.ms + SLACK_MS) past += 1;
    if (past > 0) this.#last = this.#words.splice(0, past)[past - 1];
  }

  /**
   * The first word that was not received whole, where to cut off what was received of it, and what a `resume` asks for.
   * @param {string} text from its code point 0.
   * @param {number} from where this leg began, in code points.
   * @param {number} silenceMs of the pause there, which were received before this leg.
   * @returns {{cutMs: number, rest: {offset: number, text: string, before: string, silence_ms: number}}} `cutMs` is time
   *   of this leg; an empty `text` means that nothing is left to say.
   */
  restOf(text, from, silenceMs) {
    const characters = [...text];
    const [offset, cutMs] = this.#place(characters, from);
    const heardMs = this.#last ? Math.max(this.#last.end_ms, this.#segmentMs) : -silenceMs;
    const rest = {
      offset,
      text: characters.slice(offset).join(""),
      before: characters.slice(Math.max(0, offset - BEFORE_CHARACTERS), offset).join(""),
      silence_ms: Math.max(0, cutMs - heardMs),
    };
    return { cutMs, rest };
  }

  /** Where to go on: in code points of the whole text, and in ms of this leg. */
  #place(characters, from) {
    const next = this.#words[0];
    if (next) return [next.start, Math.min(this.ms, next.start_ms)];
    if (!this.#last) return [from, 0];
    const behind = AFTER_WORD.exec(characters.slice(this.#last.end).join(""))?.[0] ?? "";
    return [this.#last.end + [...behind].length, this.#whole ? this.ms : Math.min(this.ms, this.#last.end_ms)];
  }
}
