/** What GET /v1/audio/voices says, in the order a person looks for it. No DOM. */

/**
 * @typedef {{name: string, language: string, engine: string, ready: boolean, gender: string, description: string,
 *   hint: string}} Voice
 */

/**
 * @param {object} answer
 * @returns {Voice[]} each voice once, under its own name; those ready to speak first, otherwise in the server's order.
 */
export function voicesOf(answer) {
  const voices = answer.voices.filter((entry) => !entry.alias_of).map(voiceOf);
  return [...voices.filter((voice) => voice.ready), ...voices.filter((voice) => !voice.ready)];
}

function voiceOf({ name, language, engine = "", ready = true, gender = "", description = "", hint = "" }) {
  return { name, language, engine, ready, gender, description, hint };
}

/** @param {Voice} voice @returns {string} how a list shows it. */
export function labelOf({ name, gender, description }) {
  if (gender) return `${name} (${gender})`;
  return description ? `${description} – ${name}` : name;
}

/** The language without its region, under its present tag: `en` of `en-GB`, `zh` of `cmn`. */
export function baseOf(tag) {
  return localeOf(tag)?.language ?? tag.split("-")[0];
}

/** Language and region, without variants: `en-GB` of `en-GB-scotland`. */
function regionOf(tag) {
  const locale = localeOf(tag);
  return locale?.region ? `${locale.language}-${locale.region}` : baseOf(tag);
}

function localeOf(tag) {
  try {
    return new Intl.Locale(tag);
  } catch {
    return null;
  }
}

/** A tag's name; of a language that the browser has no name for, what its voice says. */
function languageName(tag, voice) {
  const name = localeOf(tag) ? new Intl.DisplayNames(["en"], { type: "language" }).of(tag) : tag;
  return name === tag && voice.description ? voice.description : name;
}

/**
 * The languages that voices speak, those that can be spoken now first, then by name.
 * @param {Voice[]} voices
 * @returns {{tag: string, name: string, ready: boolean}[]}
 */
export function languagesOf(voices) {
  const languages = new Map();
  for (const voice of voices) {
    const tag = baseOf(voice.language);
    const ready = voice.ready || (languages.get(tag)?.ready ?? false);
    languages.set(tag, { tag, name: languageName(tag, voice), ready });
  }
  return [...languages.values()].sort((a, b) => Number(b.ready) - Number(a.ready) || a.name.localeCompare(b.name));
}

/**
 * The voices of one language, grouped under their engine and region.
 * @param {Voice[]} voices
 * @returns {{label: string, voices: Voice[]}[]}
 */
export function groupsOf(voices, tag) {
  const groups = new Map();
  for (const voice of voices.filter((one) => baseOf(one.language) === tag)) {
    const label = [voice.engine, languageName(regionOf(voice.language), voice)].filter(Boolean).join(" · ");
    if (!groups.has(label)) groups.set(label, []);
    groups.get(label).push(voice);
  }
  return [...groups].map(([label, members]) => ({ label, voices: members }));
}
