/** Every language by whatever a person types for it. No DOM. */

import { languagesOf } from "./voices.js";

/**
 * @typedef {{id: string, name: string, iso639_3: string, tag: string, speakable: boolean, voices: number, needs: string}}
 *   Language
 */

/**
 * @param {object | null} answer of GET /v1/languages; null from a server that has none.
 * @param {import("./voices.js").Voice[]} voices
 * @returns {Language[]} those that can be spoken now first.
 */
export function languagesFrom(answer, voices) {
  if (!answer) return languagesOf(voices).map(fromVoices);
  const { languages } = answer;
  return [...languages.filter((one) => one.speakable), ...languages.filter((one) => !one.speakable)];
}

function fromVoices({ tag, name, ready }) {
  return { id: tag, name, iso639_3: "", tag, speakable: ready, voices: 0, needs: ready ? "" : "a voice that is not installed" };
}

/** The best kind of match first. */
const RANKS = [
  (query, { tags }) => tags.includes(query),
  (query, { names }) => names.includes(query),
  (query, { names }) => names.some((name) => name.startsWith(query)),
  (query, { words }) => words.some((word) => word.startsWith(query)),
  (query, { names }) => query.length > 2 && names.some((name) => name.includes(query)),
];

export class LanguageIndex {
  #keys = null;

  /** @param {Language[]} languages in the order to show them where nothing is typed. */
  constructor(languages) {
    this.languages = languages;
  }

  /** @returns {Language | null} */
  find(tag) {
    return this.languages.find((language) => language.tag === tag || language.id === tag) ?? null;
  }

  /**
   * @param {string} query a part of a name in English or in the language itself, accents or not, or a code.
   * @returns {Language[]} those that can be spoken first, the best matches first within.
   */
  search(query) {
    const plain = plainOf(query);
    if (plain === "") return this.languages;
    const found = this.#known()
      .map((keys) => ({ language: keys.language, rank: RANKS.findIndex((matches) => matches(plain, keys)) }))
      .filter(({ rank }) => rank >= 0);
    found.sort((a, b) => b.language.speakable - a.language.speakable || a.rank - b.rank);
    return found.map(({ language }) => language);
  }

  /** Worked out once, at the first search. */
  #known() {
    this.#keys ??= this.languages.map((language) => {
      const names = [language.name, ownName(language.tag)].map(plainOf).filter(Boolean);
      const words = names.flatMap((name) => name.split(/[\s(),/-]+/)).filter(Boolean);
      return { language, names, words, tags: [language.tag, language.id, language.iso639_3].map(plainOf) };
    });
    return this.#keys;
  }
}

/** Lower case without accents. */
function plainOf(text) {
  return text.normalize("NFD").replace(/\p{M}/gu, "").toLowerCase().trim();
}

/** What its speakers call it, where the browser knows. */
function ownName(tag) {
  try {
    const name = new Intl.DisplayNames([tag], { type: "language", fallback: "none" }).of(tag);
    return name ?? "";
  } catch {
    return "";
  }
}
