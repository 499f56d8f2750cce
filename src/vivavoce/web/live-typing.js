/** Speaks while one types. */

import { newFrom, Typist } from "./typist.js";

/** Typing rests: what is written so far is said although no sentence ends there. */
const REST_MS = 800;

/** Typing rests longer: the last word is taken as finished, too. */
const LONG_REST_MS = 2_000;

/** Nothing was typed for this long: the place at the server is given back; more text begins anew. */
const IDLE_MS = 15_000;

/** A server that refused is not asked again with every key. */
const REFUSED_MS = 3_000;

export class LiveTyping {
  #typist = null;
  #before;
  #timers = [];
  #startedMs = -Infinity;

  /**
   * @param {import("./editor.js").Editor} editor
   * @param {import("./speaker.js").Speaker} speaker
   * @param {(typist: Typist, text: string) => void} begin starts a streamed speech with this text.
   */
  constructor(editor, speaker, begin) {
    Object.assign(this, { editor, speaker, begin });
    this.on = false;
    this.#before = editor.text;
    editor.addEventListener("input", () => this.#typed());
  }

  /** Where in the box the text that is being said begins, in code points; null where its words cannot be found. */
  get offset() {
    if (!this.#typist) return 0;
    return this.#typist.aligned ? this.#typist.offset : null;
  }

  /** Says the whole box now, and what is typed afterwards. */
  speakAll() {
    this.#start(0, true);
    this.speaker.flush();
  }

  /** Nothing more is typed to what is being said. */
  finish() {
    this.#rest();
    if (!this.#typist) return;
    this.speaker.write(this.#typist.take(true));
    this.speaker.end();
  }

  /** Forgets what was being typed. */
  leave() {
    this.#rest();
    this.#typist = null;
  }

  #typed() {
    const { text, composing } = this.editor;
    if (composing) return;
    const before = this.#before;
    this.#before = text;
    if (!this.on) return;
    if (this.#typist && this.speaker.open) this.#more(text);
    else this.#anew(before, text);
  }

  #anew(before, text) {
    if (this.speaker.state === "failed" && performance.now() - this.#startedMs < REFUSED_MS) return;
    const from = newFrom(before, text);
    if (from !== null) this.#start(from);
  }

  #start(from, all = false) {
    const typist = new Typist(this.editor.text, from);
    this.#typist = typist;
    this.#startedMs = performance.now();
    this.begin(typist, typist.take(all));
    this.#wait();
  }

  #more(text) {
    this.#typist.edit(text);
    this.speaker.write(this.#typist.take());
    this.#wait();
  }

  #wait() {
    this.#rest();
    this.#timers = [
      setTimeout(() => this.speaker.flush(), REST_MS),
      setTimeout(() => this.#sayRest(), LONG_REST_MS),
      setTimeout(() => this.finish(), IDLE_MS),
    ];
  }

  #sayRest() {
    this.speaker.write(this.#typist.take(true));
    this.speaker.flush();
  }

  #rest() {
    for (const timer of this.#timers) clearTimeout(timer);
  }
}
