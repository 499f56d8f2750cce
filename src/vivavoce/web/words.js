/** Which word is heard now, and where it stands in the text. No DOM. */

/** A pause up to this long keeps the word before it lit, so that the light does not flicker. */
const LINGER_MS = 240;

/**
 * @typedef {{word: string, start_ms: number, end_ms: number, start: number, end: number, exact?: boolean}} Word
 */

/** Words in the order they are heard; those past are forgotten. */
export class WordTrack {
  #words = [];
  #now = null;

  /** @param {Word[]} words */
  add(words) {
    this.#words.push(...words);
  }

  /** Forgets the words that would begin at `ms` or later: their sound will not come. */
  cut(ms) {
    this.#words = this.#words.filter((word) => word.start_ms < ms - 1);
  }

  /**
   * @param {number} heardMs must not run backwards.
   * @returns {{last: Word | null, lit: boolean}} the latest word that has begun, and whether it is still heard.
   */
  at(heardMs) {
    let begun = 0;
    while (begun < this.#words.length && this.#words[begun].start_ms <= heardMs) begun += 1;
    if (begun > 0) this.#now = this.#words.splice(0, begun)[begun - 1];
    return { last: this.#now, lit: this.#now !== null && heardMs <= this.#now.end_ms + LINGER_MS };
  }
}

/**
 * The server counts characters in code points, JavaScript in UTF-16 units.
 * @param {string} text
 * @returns {(codePoints: number) => number} from the one to the other.
 */
export function unitsOf(text) {
  if (!/[\ud800-\udfff]/.test(text)) return (codePoints) => Math.min(codePoints, text.length);
  const starts = [];
  let at = 0;
  for (const character of text) {
    starts.push(at);
    at += character.length;
  }
  return (codePoints) => (codePoints < starts.length ? starts[codePoints] : at);
}
