/** What became of one utterance, step by step, for a timeline. All times in ms since the user asked. No DOM. */

/**
 * @typedef {{number: number, index: number, text: string, start: number, end: number, waitedMs: number,
 *   synthesisMs: number, audioMs: number, rtf: number | null, readyMs: number, soundMs: number, where: string}} Part
 * @typedef {{name: string, startMs: number, endMs: number}} Step
 */

const STEPS = [
  ["Admission", "received", "admitted"],
  ["First segment", "admitted", "first_segment"],
  ["Slot", "first_segment", "slot"],
  ["Synthesis", "slot", "first_audio"],
];

/** A listener this much later than before has had to wait: less is the clocks' own. */
const PAUSE_MS = 60;

export class Story {
  #beganMs = 0;
  #firstAudioMs = null;
  #done = null;
  #audioMs = 0;
  #lost = false;
  #elsewhere = false;
  #pauses = [{ soundMs: -Infinity, lateMs: 0 }];

  constructor() {
    /** Every segment of which anything is known. @type {Part[]} */
    this.segments = [];
    /** When connections were lost. @type {number[]} */
    this.lostMs = [];
    this.queuedMs = null;
  }

  /** @param {number} atMs on the clock of `performance.now()`, as every `atMs` of an event. */
  begin(atMs) {
    this.#beganMs = atMs;
  }

  /** The server's own account: outcome, times, underruns. */
  get done() {
    return this.#done;
  }

  /** Takes an event of a speech. */
  add(event) {
    const atMs = (event.atMs ?? performance.now()) - this.#beganMs;
    if (event.type === "queued") this.queuedMs ??= atMs;
    if (event.type === "audio") this.#firstAudioMs ??= atMs;
    if (event.type === "segment") this.#open(event);
    if (event.type === "segment_end") this.#close(event, atMs);
    if (event.type === "lost") this.#lose(atMs);
    if (event.type === "start") this.#lost = false;
    if (event.type === "done") this.#done = event;
  }

  /** What was received of a broken segment ends here, in ms of sound; the rest comes as a segment of its own. */
  cut(soundMs) {
    const part = this.segments.at(-1);
    if (part && part.audioMs === 0) part.audioMs = Math.max(0, soundMs - part.soundMs);
    this.#audioMs = soundMs;
  }

  /** Tries in vain to connect again are the same loss. */
  #lose(atMs) {
    if (!this.#lost) this.lostMs.push(atMs);
    this.#lost = true;
    this.#elsewhere ||= this.#firstAudioMs !== null;
  }

  /**
   * Takes how far the listener is.
   * @param {number} soundMs of the sound that is heard.
   * @param {number} sinceMs since its first sound was heard.
   */
  heard(soundMs, sinceMs) {
    const last = this.#pauses.at(-1);
    const lateMs = sinceMs - soundMs;
    if (lateMs < last.lateMs + PAUSE_MS) return;
    if (soundMs < last.soundMs + PAUSE_MS) last.lateMs = lateMs;
    else this.#pauses.push({ soundMs, lateMs });
  }

  /** When a place in the sound is heard, with the pauses before it. */
  heardAtMs(soundMs, firstSoundMs) {
    return (firstSoundMs ?? 0) + soundMs + this.#pauses.findLast((pause) => pause.soundMs <= soundMs).lateMs;
  }

  #open({ index, text, start, end }) {
    const number = this.segments.length + 1;
    const unknown = { waitedMs: 0, synthesisMs: 0, audioMs: 0, rtf: null, readyMs: 0, soundMs: this.#audioMs, where: "" };
    this.segments.push({ number, index, text, start, end, ...unknown });
  }

  #close({ index, audio_ms: audioMs, synthesis_ms: synthesisMs, waited_ms: waitedMs = 0, rtf = null, ...origin }, atMs) {
    const part = this.segments.findLast((segment) => segment.index === index);
    if (!part) return;
    Object.assign(part, { audioMs, synthesisMs, waitedMs, rtf, readyMs: atMs, soundMs: this.#audioMs, where: whereOf(origin) });
    this.#audioMs += audioMs;
  }

  /**
   * The way to the first sound, as far as it is known: where speech went on elsewhere, the server that said the end
   * knows nothing of its beginning.
   * @param {number | null} firstSoundMs when it reached the ear.
   * @returns {Step[]}
   */
  steps(firstSoundMs) {
    const times = (this.#elsewhere ? null : this.#done?.timeline) ?? {};
    const steps = STEPS.filter(([, from, to]) => times[from] !== undefined && times[to] !== undefined && times[to] !== null)
      .map(([name, from, to]) => ({ name, startMs: times[from], endMs: Math.max(times[from], times[to]) }));
    const made = steps.at(-1)?.endMs ?? 0;
    const arrived = this.#firstAudioMs;
    if (arrived !== null) steps.push({ name: steps.length ? "Network" : "Server and network", startMs: made, endMs: Math.max(made, arrived) });
    if (arrived !== null && firstSoundMs !== null) steps.push({ name: "Loudspeaker", startMs: arrived, endMs: Math.max(arrived, firstSoundMs) });
    return steps;
  }

  /** When everything is over: the last sound, or the last that was made. */
  endMs(firstSoundMs) {
    const ends = this.segments.map((part) => Math.max(part.readyMs, this.heardAtMs(part.soundMs + part.audioMs, firstSoundMs)));
    return Math.max(1, firstSoundMs ?? 0, this.#firstAudioMs ?? 0, ...ends);
  }
}

/** Where a segment was made, as far as the server tells. */
function whereOf({ tier = "", node = "", model = "", endpoint = "" }) {
  return [tier, node || endpoint, model].filter(Boolean).join(" · ");
}
