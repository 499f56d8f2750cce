/** The two lists: a language, and the voices that speak it. */

import { baseOf, groupsOf, labelOf, languagesOf } from "./voices.js";

export class VoicePicker {
  #voices = [];

  /**
   * @param {HTMLSelectElement} language
   * @param {HTMLSelectElement} voice
   * @param {HTMLElement} hint says how to get voices that are not there.
   */
  constructor(language, voice, hint) {
    this.language = language;
    this.voice = voice;
    this.hint = hint;
    language.addEventListener("change", () => this.#showVoices());
  }

  /** Offers these voices; the first of them is chosen, or the one chosen before. @param {import("./voices.js").Voice[]} voices */
  offer(voices) {
    const before = this.voice.value;
    this.#voices = voices;
    const chosen = voices.find((voice) => voice.name === before && voice.ready) ?? voices[0];
    this.language.replaceChildren(
      ...languagesOf(voices).map(({ tag, name, ready }) => option(tag, ready ? name : `${name} (not installed)`)),
    );
    this.language.disabled = this.voice.disabled = voices.length === 0;
    if (!chosen) return;
    this.language.value = baseOf(chosen.language);
    this.#showVoices();
    if (chosen.ready) this.voice.value = chosen.name;
  }

  /** What to send: nothing where no voice is known, so that the server's own default speaks. */
  get chosen() {
    const chosen = this.#voices.find((voice) => voice.name === this.voice.value);
    return chosen ? { voice: chosen.name, language: chosen.language } : {};
  }

  #showVoices() {
    const groups = groupsOf(this.#voices, this.language.value);
    this.voice.replaceChildren(...groups.map(({ label, voices }) => group(label, voices)));
    const first = groups.flatMap(({ voices }) => voices).find((voice) => voice.ready);
    this.voice.value = first?.name ?? "";
    this.#showHint(groups.flatMap(({ voices }) => voices).filter((voice) => !voice.ready));
    this.voice.dispatchEvent(new Event("change"));
  }

  #showHint(missing) {
    this.hint.hidden = missing.length === 0;
    const ways = [...new Set(missing.map((voice) => voice.hint).filter(Boolean))];
    const count = missing.length === 1 ? "1 more voice is" : `${missing.length} more voices are`;
    this.hint.replaceChildren(`${count} not installed yet. `, ...ways.flatMap(marked));
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
