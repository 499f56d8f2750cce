/** The part of the page where a voice is described instead of chosen. */

import { categoriesFor, instructOf, optionLabel } from "./design.js";
import { baseOf } from "./voices.js";

/** Choosing rests this long before the server is asked. */
const REST_MS = 200;

/** Fires "change" when what is to be said changes, and when the server has said how it will do it. */
export class DesignForm extends EventTarget {
  #categories = [];
  #choices = {};
  #language = null;
  #answer = null;
  #aborter = null;
  #timer = 0;

  /**
   * @param {HTMLElement} root holds the fields, the instruct and why.
   * @param {HTMLInputElement} toggle
   * @param {(instruct: string, language: string, signal: AbortSignal) => Promise<object>} ask
   */
  constructor(root, toggle, ask) {
    super();
    Object.assign(this, { root, toggle, ask });
    [this.fields, this.instruct, this.why] = ["fields", "instruct", "why"].map((name) => root.querySelector(`.${name}`));
    toggle.addEventListener("change", () => this.#changed(0));
    this.fields.addEventListener("change", ({ target }) => this.#choose(target.name, target.value));
  }

  /** Takes the vocabulary; a server without one hides the whole thing. @param {import("./design.js").Category[]} categories */
  offer(categories) {
    this.#categories = categories;
    this.toggle.closest("label").hidden = categories.length === 0;
    this.#build();
  }

  /** The language of the text: accents are for English, dialects for Chinese. */
  speak(language) {
    this.#language = language;
    this.#build();
    this.#changed(0);
  }

  get on() {
    return this.toggle.checked;
  }

  /** How to ask for the designed voice; null while none is designed. */
  get chosen() {
    if (!this.on) return null;
    const { instruct = instructOf(this.#choices, this.#offered), native = true, voice = null } = this.#answer ?? {};
    const language = this.#language?.tag;
    if (native || !voice) return { instruct, language };
    return { voice: voice.id ?? voice.name, language: voice.language ?? language };
  }

  get #offered() {
    return categoriesFor(this.#categories, baseOf(this.#language?.tag ?? "en"));
  }

  #build() {
    this.fields.replaceChildren(...this.#offered.map((category) => this.#field(category)));
  }

  #field({ name, options }) {
    const field = document.createElement("div");
    field.className = "field";
    const select = document.createElement("select");
    select.name = name;
    select.id = `design-${name}`;
    select.append(new Option("Any", ""), ...options.map((option) => new Option(optionLabel(option, name), option)));
    select.value = this.#choices[name] ?? "";
    const label = document.createElement("label");
    label.htmlFor = select.id;
    label.textContent = name.charAt(0).toUpperCase() + name.slice(1);
    field.append(label, select);
    return field;
  }

  #choose(name, value) {
    this.#choices[name] = value;
    this.#changed();
  }

  #changed(restMs = REST_MS) {
    clearTimeout(this.#timer);
    this.#aborter?.abort();
    this.#answer = null;
    this.root.hidden = !this.on;
    const instruct = instructOf(this.#choices, this.#offered);
    this.instruct.textContent = instruct || "any voice";
    this.#say("");
    this.dispatchEvent(new Event("change"));
    if (this.on) this.#timer = setTimeout(() => this.#load(instruct), restMs);
  }

  async #load(instruct) {
    const aborter = new AbortController();
    this.#aborter = aborter;
    try {
      this.#answer = await this.ask(instruct, this.#language?.tag, aborter.signal);
      this.instruct.textContent = this.#answer.instruct || "any voice";
      this.#say(this.#answer.why);
    } catch (error) {
      if (error.name === "AbortError") return;
      this.#say(error.message);
    }
    this.dispatchEvent(new Event("change"));
  }

  #say(words) {
    if (this.why.textContent !== words) this.why.textContent = words;
  }
}
