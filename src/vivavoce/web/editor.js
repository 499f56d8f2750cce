/** The text box, with the same text behind it where words are lit. */

import { unitsOf } from "./words.js";

export class Editor extends EventTarget {
  #textarea;
  #past;
  #now;
  #ahead;
  #units = (codePoints) => codePoints;
  #spoken = null;
  #shown = "";
  #follow = true;
  #keeps = () => false;

  /** @param {HTMLElement} root holds the textarea and the mirror. Fires "input" when the user changes the text. */
  constructor(root) {
    super();
    this.root = root;
    /** Whether a word is being put together that is not in the text yet (an input method). */
    this.composing = false;
    this.#textarea = root.querySelector("textarea");
    [this.#past, this.#now, this.#ahead] = root.querySelectorAll(".mirror > *");
    this.#textarea.addEventListener("input", ({ isComposing = false }) => {
      this.composing = isComposing;
      this.#edited();
    });
    this.#textarea.addEventListener("compositionend", () => {
      this.composing = false;
      this.#edited();
    });
    for (const type of ["wheel", "touchmove"]) {
      root.addEventListener(type, () => (this.#follow = false), { passive: true });
    }
    this.clear();
  }

  get text() {
    return this.#textarea.value;
  }

  set text(text) {
    this.#textarea.value = text;
    this.#edited();
  }

  focus() {
    this.#textarea.focus();
  }

  /**
   * From now on words of this text are lit, until it is edited or `clear` is called.
   * @param {(text: string) => boolean} keeps tells of an edited text whether words may still be lit in it.
   */
  startSpeaking(keeps = () => false) {
    this.#spoken = this.text;
    this.#units = unitsOf(this.#spoken);
    this.#keeps = keeps;
    this.#follow = true;
    this.#mode("speaking");
    this.#show(0, 0, false);
  }

  /**
   * Lights the characters `[start, end)`, in code points.
   * @param {boolean} lit false marks them as spoken without lighting them.
   */
  light(start, end, lit) {
    if (this.#spoken === null) return;
    this.#show(this.#units(start), this.#units(end), lit);
    if (lit && this.#follow) this.#reveal();
  }

  /** Marks the characters `[start, end)` while nothing is being spoken. */
  peek(start, end) {
    if (this.#spoken !== null) return;
    const units = unitsOf(this.text);
    this.#mode("peek");
    this.#show(units(start), units(end), true);
    this.#reveal();
  }

  unpeek() {
    if (this.#spoken === null) this.clear();
  }

  /** Back to plain text. */
  clear() {
    this.#spoken = null;
    this.#mode("edit");
    this.#show(0, 0, false);
  }

  #edited() {
    if (this.#spoken !== null && this.#keeps(this.text)) this.#goOn();
    else this.clear();
    this.dispatchEvent(new Event("input"));
  }

  /** Text was added behind what is being spoken: what is lit stays lit. */
  #goOn() {
    const [start, end, lit] = this.#shown.split(" ");
    this.#spoken = this.text;
    this.#units = unitsOf(this.text);
    this.#shown = "";
    this.#show(Number(start), Number(end), lit === "true");
  }

  #mode(mode) {
    this.root.dataset.mode = mode;
    this.#shown = "";
  }

  #show(start, end, lit) {
    const shown = `${start} ${end} ${lit}`;
    if (shown === this.#shown) return;
    this.#shown = shown;
    const text = this.text;
    this.#past.textContent = text.slice(0, start);
    this.#now.textContent = text.slice(start, end);
    this.#ahead.textContent = text.slice(end);
    this.#now.classList.toggle("lit", lit);
  }

  /** Scrolls the box, never the page, so that the lit word stays in sight. */
  #reveal() {
    const box = this.root.getBoundingClientRect();
    const word = this.#now.getBoundingClientRect();
    if (word.top >= box.top + 8 && word.bottom <= box.bottom - 8) return;
    const calm = matchMedia("(prefers-reduced-motion: reduce)").matches;
    const top = this.root.scrollTop + word.top - box.top - box.height / 3;
    this.root.scrollTo({ top, behavior: calm ? "instant" : "smooth" });
  }
}
