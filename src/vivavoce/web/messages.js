/** What the page says to a person. No DOM. */

const SENTENCES = {
  connection_failed: "The server cannot be reached. Is it still running?",
  busy: "The server is busy speaking for others.",
  rate_limited: "This API key has used up what it may speak for now.",
  empty_input: "There is nothing to say in this text.",
  invalid_api_key: "This server asks for an API key.",
  wrong_api_key: "This server does not know that API key.",
};

/** @param {import("./errors.js").ApiError} error @returns {string} */
export function plainWords(error) {
  const wait = error.retryAfterS ? ` Try again in ${error.retryAfterS} s.` : "";
  if (error.code === "busy") return SENTENCES.busy + (wait || " Try again in a moment.");
  return (SENTENCES[error.code] ?? error.message) + wait;
}

/** Where one waits in the server's queue. @returns {string} */
export function placeShown({ position, expectedMs }) {
  const about = expectedMs > 0 ? `, about ${roughly(expectedMs)}` : "";
  return position > 1 ? `Waiting for a free place: number ${position} in the queue${about}.` : `Waiting for a free place: next in the queue${about}.`;
}

/** @param {import("./saying.js").Figures | null} figures @returns {Record<string, string>} by element id. */
export function figuresShown(figures) {
  if (!figures) return {};
  const { firstSoundMs, lengthMs, rtf, gaps, cushionMs } = figures;
  return {
    "first-sound": firstSoundMs === null ? "–" : duration(firstSoundMs),
    length: lengthMs > 0 ? duration(lengthMs) : "–",
    rtf: rtf === null ? "–" : factor(rtf),
    gaps: firstSoundMs === null ? "–" : String(gaps),
    cushion: firstSoundMs === null ? "–" : duration(cushionMs),
  };
}

/** @param {number} rtf @returns {string} such as 0.08, < 0.01. */
export function factor(rtf) {
  return rtf < 0.01 ? "< 0.01" : rtf.toFixed(2);
}

/** @param {number} ms @returns {string} such as 84 ms, 4.2 s, 12:07. */
export function duration(ms) {
  if (ms < 1000) return `${Math.round(ms)} ms`;
  if (ms < 60_000) return `${(ms / 1000).toFixed(1)} s`;
  const seconds = Math.round(ms / 1000);
  return `${Math.floor(seconds / 60)}:${String(seconds % 60).padStart(2, "0")} min`;
}

/** A guess, to the second. */
function roughly(ms) {
  return ms < 59_500 ? `${Math.max(1, Math.round(ms / 1000))} s` : duration(ms);
}

/** @param {number} octave of the slider. @returns {number} the speed: 0 is 1, each whole step doubles. */
export function speedOf(octave) {
  return Math.round(2 ** octave * 100) / 100;
}
