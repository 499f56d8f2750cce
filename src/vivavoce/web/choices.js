/** Everything one chooses about how a text is spoken: language, voice or its description, speed. */

import { Combobox } from "./combobox.js";
import { DesignForm } from "./design-form.js";
import { LanguageIndex, languagesFrom } from "./languages.js";
import { speedOf } from "./messages.js";
import { VoicePicker } from "./voice-picker.js";
import { baseOf } from "./voices.js";

/** Fires "change" whenever what would be asked for changes. */
export class Choices extends EventTarget {
  #index = new LanguageIndex([]);
  #before = null;

  /**
   * @param {(id: string) => HTMLElement} at gives the page's elements.
   * @param {import("./api.js").Api} api
   */
  constructor(at, api) {
    super();
    this.speed = at("speed");
    this.speedShown = at("speed-shown");
    this.voice = new VoicePicker(at("voice"), at("voice-hint"));
    this.design = new DesignForm(at("design-form"), at("design"), (...design) => api.design(...design));
    this.language = new Combobox(at("language"), at("language-list"), at("language-count"), {
      search: (query) => this.#index.search(query),
      groupOf: ({ speakable, needs }) => (speakable ? "Spoken here" : `Needs ${needs}`),
      labelOf: ({ name }) => name,
      noteOf,
      nothing: "No such language.",
    });
    this.language.addEventListener("change", () => {
      this.#before = null;
      this.#showLanguage();
    });
    this.design.addEventListener("change", () => this.#showDesign());
    at("voice").addEventListener("change", () => this.#changed());
    this.speed.addEventListener("input", () => this.#showSpeed());
  }

  /**
   * Offers what the server has; the language and voice chosen before stay chosen.
   * @param {import("./voices.js").Voice[]} voices
   * @param {object | null} answer of GET /v1/languages.
   */
  offer(voices, answer) {
    this.#index = new LanguageIndex(languagesFrom(answer, voices));
    this.voice.offer(voices);
    this.design.offer(answer?.design?.categories ?? []);
    const first = voices.find((voice) => voice.ready)?.language ?? "en";
    const before = this.language.chosen && this.#index.find(this.language.chosen.id);
    const chosen = before ?? this.#index.find(baseOf(first)) ?? this.#index.languages[0] ?? null;
    this.language.input.disabled = chosen === null;
    this.language.chosen = chosen;
    if (chosen) this.#showLanguage();
  }

  /** What to ask for besides the text. */
  get wanted() {
    return { speed: speedOf(this.speed.valueAsNumber), ...(this.design.chosen ?? this.voice.chosen) };
  }

  /** Why the chosen language cannot be spoken; "" where it can. */
  get missing() {
    const language = this.language.chosen;
    return language && !language.speakable ? `${language.name} needs ${language.needs}.` : "";
  }

  #showLanguage() {
    this.voice.show(this.language.chosen);
    this.design.speak(this.language.chosen);
    this.#changed();
  }

  #showDesign() {
    const { voice } = this.voice;
    const { chosen } = this.design;
    voice.disabled = this.design.on || voice.options.length === 0;
    if (chosen?.voice) {
      this.#before ??= voice.value;
      voice.value = chosen.voice;
    } else if (!this.design.on) this.#restore(voice);
    this.#changed();
  }

  /** The voice that was chosen before one was described. */
  #restore(voice) {
    if ([...voice.options].some((option) => option.value === this.#before)) voice.value = this.#before;
    this.#before = null;
  }

  #showSpeed() {
    const speed = speedOf(this.speed.valueAsNumber);
    this.speedShown.textContent = `${speed}×`;
    this.speed.setAttribute("aria-valuetext", `${speed} times`);
    this.#changed();
  }

  #changed() {
    this.dispatchEvent(new Event("change"));
  }
}

function noteOf({ speakable, voices, tag }) {
  if (!speakable || !voices) return tag;
  return voices === 1 ? "1 voice" : `${voices} voices`;
}
