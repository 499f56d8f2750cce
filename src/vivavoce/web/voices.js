/** What GET /v1/audio/voices says, in the order a person looks for it. No DOM. */

/**
 * @typedef {{name: string, language: string, engine: string, ready: boolean, gender: string, hint: string}} Voice
 */

/**
 * @param {object} answer
 * @returns {Voice[]} each voice once, under its own name; those ready to speak first, otherwise in the server's order.
 */
export function voicesOf(answer) {
  const voices = answer.voices.filter((entry) => !entry.alias_of).map(voiceOf);
  return [...voices.filter((voice) => voice.ready), ...voices.filter((voice) => !voice.ready)];
}

function voiceOf({ name, language, engine = "", ready = true, gender = "", hint = "" }) {
  return { name, language, engine, ready, gender, hint };
}

/** The language without its region: `en` of `en-GB`. */
export function baseOf(tag) {
  return tag.split(/[-_]/)[0].toLowerCase();
}

/** A tag's name in the reader's own language; the tag itself where the browser knows none. */
export function languageName(tag, locale = "en") {
  try {
    return new Intl.DisplayNames([locale], { type: "language" }).of(tag) ?? tag;
  } catch {
    return tag;
  }
}

/**
 * The languages that voices speak, those that can be spoken now first, then by name.
 * @param {Voice[]} voices
 * @returns {{tag: string, name: string, ready: boolean}[]}
 */
export function languagesOf(voices) {
  const ready = new Map();
  for (const voice of voices) {
    const tag = baseOf(voice.language);
    ready.set(tag, ready.get(tag) || voice.ready);
  }
  const languages = [...ready].map(([tag, isReady]) => ({ tag, name: languageName(tag), ready: isReady }));
  return languages.sort((a, b) => Number(b.ready) - Number(a.ready) || a.name.localeCompare(b.name));
}

/**
 * The voices of one language, grouped under their engine and region.
 * @param {Voice[]} voices
 * @returns {{label: string, voices: Voice[]}[]}
 */
export function groupsOf(voices, tag) {
  const groups = new Map();
  for (const voice of voices.filter((one) => baseOf(one.language) === tag)) {
    const label = [voice.engine, languageName(voice.language)].filter(Boolean).join(" · ");
    if (!groups.has(label)) groups.set(label, []);
    groups.get(label).push(voice);
  }
  return [...groups].map(([label, members]) => ({ label, voices: members }));
}
