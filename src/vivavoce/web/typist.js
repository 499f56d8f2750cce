/** What of a text that is being typed can be said already. No DOM. */

/** Up to the last place where a word surely ends; a script without spaces is said letter by letter. */
const WHOLE_WORDS = /^[\s\S]*(?:\s|[\u0e00-\u0eff\u3000-\u9fff\uac00-\ud7af\uff00-\uffef])/u;

export class Typist {
  #text;
  #at;

  /**
   * @param {string} text of the box.
   * @param {number} from where what is to be said begins, in UTF-16 units.
   */
  constructor(text, from = 0) {
    this.#text = text;
    this.#at = from;
    /** Where in the box the spoken text begins, in code points. */
    this.offset = [...text.slice(0, from)].length;
    /** Whether what was said still stands where it stood, so that words of it can be lit. */
    this.aligned = true;
  }

  /** @returns {boolean} whether `text` only differs from the box's text behind what was said. */
  holds(text) {
    return this.aligned && text.startsWith(this.#text.slice(0, this.#at));
  }

  /** The box's text is this now. What was said stays said: only what is written behind it can still be. */
  edit(text) {
    if (!this.holds(text)) {
      this.#at = moved(this.#text, text, this.#at);
      this.aligned = false;
    }
    this.#text = text;
  }

  /**
   * @param {boolean} all also a word that may not be finished.
   * @returns {string} what is to be said now and was not before.
   */
  take(all = false) {
    const rest = this.#text.slice(this.#at);
    const taken = all ? rest : (WHOLE_WORDS.exec(rest)?.[0] ?? "");
    this.#at += taken.length;
    return taken;
  }
}

/** How many characters two texts share at their start. */
export function sharedStart(before, after) {
  const most = Math.min(before.length, after.length);
  let count = 0;
  while (count < most && before[count] === after[count]) count += 1;
  return count;
}

/** Where a mark at `at` in `before` is after an edit. */
function moved(before, after, at) {
  const start = sharedStart(before, after);
  if (start >= at) return at;
  let tail = 0;
  const most = Math.min(before.length, after.length) - start;
  while (tail < most && before.at(-1 - tail) === after.at(-1 - tail)) tail += 1;
  if (before.length - tail <= at) return at + after.length - before.length;
  return Math.min(at, start);
}

/** Where in `after` what was added begins, with the whole of a word that it changed; null where nothing was added. */
export function newFrom(before, after) {
  const start = sharedStart(before, after);
  if (after.length <= before.length && start >= after.length) return null;
  if (after.slice(start).trim() === "") return null;
  return /\s/u.test(after[start]) ? start : /\S*$/u.exec(after.slice(0, start)).index;
}
