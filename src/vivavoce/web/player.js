/**
 * Sound for a page: one AudioContext for its whole life, one PCM stream at a time. No DOM.
 *
 * Call `unlock()` inside the user's click (phones stay silent otherwise), then `play(rateHz)` for each stream.
 */

import { scriptNode } from "./script-node.js";

/** Samples that may wait to be played: 43 s at 24 kHz. A faster stream is held back, so memory stays flat. */
const CAPACITY = 1 << 20;

/** Room kept for the resampler's window on both ends of the ring. */
const MARGIN = 1024;

/** What the audio thread may have played since it last told, with a message's way to it. */
const UNCUT_S = 0.08;

/** After this long without a stream the context sleeps, so that an idle page costs no battery. */
const SLEEP_AFTER_MS = 20_000;

/** One stream on its way to the ear. Made by `Player.play`. */
export class Playback {
  #player;
  #sent = 0;
  #progress = { consumed: 0, at: 0, playing: false };
  #wake = () => {};
  #heard = 0;
  #settle;

  /**
   * @param {Player} player
   * @param {number} id
   * @param {number} rateHz
   */
  constructor(player, id, rateHz) {
    this.#player = player;
    this.id = id;
    this.rateHz = rateHz;
    this.underruns = 0;
    /** What waits before sound goes on after it ran dry; it grows with every underrun and slowly shrinks again. */
    this.cushionMs = 0;
    /** Called a few dozen times a second while anything is played. @type {() => void} */
    this.progressed = () => {};
    /** When the first sample reaches the device, on the clock of `performance.now()`; null until known. */
    this.firstSoundMs = null;
    /** Time that `write` spent waiting for room. */
    this.heldBackMs = 0;
    this.over = false;
    /** Resolves to "played" or "stopped". @type {Promise<"played" | "stopped">} */
    this.finished = new Promise((resolve) => {
      this.#settle = resolve;
    });
  }

  /** Length of what was written so far. */
  get writtenMs() {
    return (this.#sent / this.rateHz) * 1000;
  }

  /** Samples that wait to be played. */
  get buffered() {
    return this.#sent - this.#progress.consumed;
  }

  /** What the listener hears now, in ms of the stream; never runs backwards. */
  get heardMs() {
    const { consumed, at, playing } = this.#progress;
    const late = playing ? (this.#player.deviceTime - at) * this.rateHz : 0;
    const samples = Math.min(Math.max(consumed + late, this.#heard), this.#sent);
    this.#heard = samples;
    return (samples / this.rateHz) * 1000;
  }

  /**
   * Adds samples, waiting while the ring is full.
   * @param {Int16Array} pcm
   * @returns {Promise<boolean>} false once the stream is stopped.
   */
  async write(pcm) {
    for (let from = 0; from < pcm.length && !this.over; from += CAPACITY / 4) {
      const piece = pcm.slice(from, from + CAPACITY / 4);
      await this.#room(piece.length);
      if (this.over) break;
      this.#sent += piece.length;
      this.#player.post({ type: "write", id: this.id, samples: piece }, [piece.buffer]);
    }
    return !this.over;
  }

  async #room(samples) {
    const since = performance.now();
    while (!this.over && this.buffered + samples > CAPACITY - MARGIN) {
      await new Promise((resolve) => {
        this.#wake = resolve;
      });
    }
    this.heldBackMs += performance.now() - since;
  }

  /**
   * Forgets what was written after `ms` of the stream and is not played yet.
   * @param {number} ms
   * @returns {number} where the stream ends now, in ms: what is written next begins there.
   */
  cut(ms) {
    const kept = Math.max(Math.round((ms / 1000) * this.rateHz), this.#progress.consumed + UNCUT_S * this.rateHz);
    if (kept < this.#sent && !this.over) {
      this.#sent = Math.round(kept);
      this.#player.post({ type: "cut", id: this.id, to: this.#sent });
    }
    return this.writtenMs;
  }

  /** What was written is all there is for now; the silence until more comes is no underrun. */
  rest() {
    if (!this.over) this.#player.post({ type: "rest", id: this.id });
  }

  /** After a rest, more is on its way: silence that begins before it comes is an underrun again. */
  expect() {
    if (!this.over) this.#player.post({ type: "more", id: this.id });
  }

  /** Nothing more will be written; what is there plays out. */
  end() {
    if (!this.over) this.#player.post({ type: "end", id: this.id });
  }

  /** Silence, at once. */
  stop() {
    if (this.over) return;
    this.#player.post({ type: "stop", id: this.id });
    this.close("stopped");
  }

  /** @param {"played" | "stopped"} outcome */
  close(outcome) {
    this.over = true;
    this.#wake();
    this.#settle(outcome);
  }

  /** Takes a message of the audio thread. */
  receive(message) {
    if (message.type === "started") this.firstSoundMs = this.#player.heardAt(message.at);
    if (message.type === "progress") {
      this.#progress = message;
      this.underruns = message.underruns;
      this.cushionMs = 1000 * message.cushionS;
      this.#wake();
      this.progressed();
    }
    if (message.type === "drained") this.close("played");
  }
}

/** Fires "underrun", "started" and "finished" events whose `detail` is the playback. */
export class Player extends EventTarget {
  #ready = null;
  #node = null;
  #id = 0;
  #sleep = 0;
  #failures = 0;

  /** @param {string | URL} workletUrl where player-worklet.js is. */
  constructor(workletUrl = new URL("./player-worklet.js", import.meta.url)) {
    super();
    this.workletUrl = workletUrl;
    /** The one context; null before the first gesture. @type {AudioContext | null} */
    this.context = null;
    /** For meters: what is played passes through it. @type {AnalyserNode | null} */
    this.analyser = null;
    /** The stream now playing, or the last one. @type {Playback | null} */
    this.current = null;
    /** Frames of speech rendered since the page was opened. */
    this.framesRendered = 0;
  }

  /** Builds the audio path; the context itself is made before the first await, inside the caller's gesture. */
  prepare() {
    this.#ready ??= this.#build().catch((cause) => {
      this.#ready = null;
      this.#failures += 1;
      throw new Error("The page could not load its player. Try again, or load the page anew.", { cause });
    });
    return this.#ready;
  }

  /** Call synchronously in a click or key handler. */
  unlock() {
    const ready = this.prepare();
    ready.catch(() => {});
    this.wake();
  }

  /** Resumes a context that the system has put to sleep. */
  wake() {
    clearTimeout(this.#sleep);
    if (this.context && this.context.state !== "running") this.context.resume().catch(() => {});
  }

  /**
   * Starts a stream; the one before it is stopped.
   * @param {number} rateHz the stream's rate; whatever the device's is, it is heard at the right pitch.
   */
  async play(rateHz) {
    await this.prepare();
    this.current?.stop();
    clearTimeout(this.#sleep);
    this.#id += 1;
    const playback = new Playback(this, this.#id, rateHz);
    this.current = playback;
    this.post({ type: "begin", id: playback.id, rateHz });
    playback.finished.then(() => this.#idle(playback));
    return playback;
  }

  /** The context's time of what leaves the loudspeaker now, in seconds. */
  get deviceTime() {
    return this.context.currentTime - this.#latencyS;
  }

  /** When the context's time `at` reaches the device, in ms of `performance.now()`. */
  heardAt(at) {
    return performance.now() + (at - this.deviceTime) * 1000;
  }

  post(message, transfer = []) {
    this.#node.port.postMessage(message, transfer);
  }

  get #latencyS() {
    return this.context.outputLatency || this.context.baseLatency || 0;
  }

  async #build() {
    if (!this.context) {
      if (navigator.audioSession) navigator.audioSession.type = "playback";
      this.context = new AudioContext({ latencyHint: "interactive" });
    }
    const url = new URL(this.workletUrl);
    // A browser remembers that a module could not be loaded; under another address it tries again.
    if (this.#failures > 0) url.searchParams.set("attempt", this.#failures + 1);
    this.#node = await streamNode(this.context, url, { capacity: CAPACITY });
    this.analyser = this.context.createAnalyser();
    this.#node.connect(this.analyser).connect(this.context.destination);
    this.#node.port.onmessage = ({ data }) => this.#receive(data);
  }

  #receive(message) {
    if (message.type === "progress") this.framesRendered = message.frames;
    const playback = this.current;
    if (message.id !== playback?.id) return;
    const underruns = playback.underruns;
    playback.receive(message);
    if (message.type === "started") this.#tell("started", playback);
    if (playback.underruns > underruns) this.#tell("underrun", playback);
  }

  #idle(playback) {
    this.#tell("finished", playback);
    if (playback !== this.current) return;
    this.#sleep = setTimeout(() => this.context.suspend(), SLEEP_AFTER_MS);
  }

  #tell(type, detail) {
    this.dispatchEvent(new CustomEvent(type, { detail }));
  }
}

async function streamNode(context, workletUrl, processorOptions) {
  if (!context.audioWorklet) return scriptNode(context, workletUrl, processorOptions);
  await context.audioWorklet.addModule(workletUrl);
  const options = { numberOfInputs: 0, outputChannelCount: [1], processorOptions };
  return new AudioWorkletNode(context, "vivavoce-stream", options);
}
