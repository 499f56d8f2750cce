/** The list of the voices that speak one language. */

import { baseOf, groupsOf, labelOf } from "./voices.js";

export class VoicePicker {
  #voices = [];
  #language = null;

  /**
   * @param {HTMLSelectElement} voice
   * @param {HTMLElement} hint says how to get voices that are not there.
   */
  constructor(voice, hint) {
    this.voice = voice;
    this.hint = hint;
  }

  /** Takes the voices there are. @param {import("./voices.js").Voice[]} voices */
  offer(voices) {
    this.#voices = voices;
  }

  /** Offers the voices of a language; the first of them is chosen, or the one chosen before. */
  show(language) {
    const before = this.voice.value;
    this.#language = language;
    const groups = groupsOf(this.#voices, baseOf(language.tag));
    const offered = groups.flatMap(({ voices }) => voices);
    this.voice.replaceChildren(...groups.map(({ label, voices }) => group(label, voices)));
    if (language.speakable && !offered.some((voice) => voice.ready)) this.voice.prepend(option("", "The server’s own"));
    const chosen = offered.find((voice) => voice.ready && voice.name === before) ?? offered.find((voice) => voice.ready);
    this.voice.value = chosen?.name ?? "";
    this.voice.disabled = this.voice.options.length === 0;
    this.#showHint(offered.filter((voice) => !voice.ready));
    this.voice.dispatchEvent(new Event("change"));
  }

  /** What to send: nothing where no voice is known, so that the server's own default speaks. */
  get chosen() {
    const chosen = this.#voices.find((voice) => voice.name === this.voice.value);
    if (chosen) return { voice: chosen.name, language: chosen.language };
    return this.#language ? { language: this.#language.tag } : {};
  }

  #showHint(missing) {
    const { speakable, name, needs } = this.#language;
    this.hint.hidden = speakable && missing.length === 0;
    const ways = [...new Set(missing.map((voice) => voice.hint).filter(Boolean))];
    const count = missing.length === 1 ? "1 more voice is" : `${missing.length} more voices are`;
    const needed = speakable ? [] : [`${name} needs ${needs}. `];
    const more = missing.length > 0 ? [`${count} not installed yet. `, ...ways.flatMap(marked)] : [];
    this.hint.replaceChildren(...needed, ...more);
  }
}

/** Text with its `commands` set as code. */
function marked(text) {
  return [...text.split(/(`[^`]+`)/).map(codeOrText), " "];
}

function codeOrText(piece) {
  if (!piece.startsWith("`")) return piece;
  const code = document.createElement("code");
  code.textContent = piece.slice(1, -1);
  return code;
}

function option(value, label) {
  const element = document.createElement("option");
  element.value = value;
  element.textContent = label;
  return element;
}

function group(label, voices) {
  const element = document.createElement("optgroup");
  element.label = label;
  for (const voice of voices) {
    const one = option(voice.name, labelOf(voice));
    one.disabled = !voice.ready;
    if (!voice.ready) one.textContent += " (not installed)";
    element.append(one);
  }
  return element;
}
