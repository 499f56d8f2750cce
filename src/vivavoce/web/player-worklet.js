/**
 * Plays one PCM stream at a time on the audio thread, without ever growing: 16-bit samples wait in a ring at the
 * stream's own rate and are resampled to the context's rate as they are played.
 *
 * In:  {type: "begin", id, rateHz}, {type: "write", id, samples: Int16Array}, {type: "cut", id, to}, {type: "rest", id},
 *      {type: "more", id}, {type: "end", id}, {type: "stop", id}. A cut forgets what was written after the first `to` samples, unless it was
 *      played already. After a rest what was written is all there is for now: it plays out, and no silence that follows
 *      counts as an underrun; unless, before that silence, more is said to come.
 * Out: {type: "started", id, at}, {type: "progress", id, at, consumed, playing, underruns, frames, cushionS},
 *      {type: "drained", id}; `at` is the context's time in seconds, `consumed` counts samples of the stream,
 *      `underruns` the times that speech had to go on after the ring had run dry, `cushionS` what waits before it does.
 */

/** Render quanta of 128 frames between two reports: 21 ms at 48 kHz. */
const REPORT_QUANTA = 8;

/** Fades of a few milliseconds, as a factor a frame, so that no cut clicks. */
const FADE_IN_STEP = 1 / 128;
const TAIL_DECAY = 0.97;

/** Neighbours on each side that shape one resampled frame. */
const HALF_TAPS = 16;
const KAISER_BETA = 7;

/** Zeroth-order modified Bessel function of the first kind. */
function bessel0(x) {
  let sum = 1;
  for (let term = 1, k = 1; term > 1e-12 * sum; k += 1) {
    term *= (x / (2 * k)) ** 2;
    sum += term;
  }
  return sum;
}

function greatestCommonDivisor(a, b) {
  return b === 0 ? a : greatestCommonDivisor(b, a % b);
}

/** A fixed store of the latest samples, addressed by their number in the stream. `capacity` is a power of two. */
export class Ring {
  constructor(capacity) {
    this.samples = new Int16Array(capacity);
    this.mask = capacity - 1;
    this.written = 0;
  }

  clear() {
    this.samples.fill(0);
    this.written = 0;
  }

  /** Stores samples after those already there; the caller keeps `write` within what the reader has left behind. */
  write(samples) {
    const at = this.written & this.mask;
    const first = Math.min(samples.length, this.samples.length - at);
    this.samples.set(samples.subarray(0, first), at);
    this.samples.set(samples.subarray(first), 0);
    this.written += samples.length;
  }
}

/** Windowed-sinc resampling of a ring, exact in its ratio: integer steps, so nothing drifts over hours. */
export class Resampler {
  constructor(ring, fromHz, toHz) {
    const divisor = greatestCommonDivisor(fromHz, toHz);
    this.ring = ring;
    this.step = fromHz / divisor;
    this.phases = toHz / divisor;
    this.half = HALF_TAPS * Math.max(1, Math.ceil(fromHz / toHz));
    this.kernel = Resampler.kernel(this.phases, this.half, Math.min(1, toHz / fromHz));
    this.head = 0;
    this.phase = 0;
  }

  /** One row of taps for each phase, each row summing to 1. */
  static kernel(phases, half, cutoff) {
    const taps = 2 * half;
    const table = new Float32Array(phases * taps);
    for (let phase = 0; phase < phases; phase += 1) {
      const row = table.subarray(phase * taps, (phase + 1) * taps);
      let sum = 0;
      for (let k = 0; k < taps; k += 1) {
        const x = k - half + 1 - phase / phases;
        const sinc = x === 0 ? 1 : Math.sin(Math.PI * cutoff * x) / (Math.PI * cutoff * x);
        const window = bessel0(KAISER_BETA * Math.sqrt(Math.max(0, 1 - (x / half) ** 2)));
        row[k] = sinc * window;
        sum += row[k];
      }
      for (let k = 0; k < taps; k += 1) row[k] /= sum;
    }
    return table;
  }

  /** The next output frame in [-1, 1]. */
  next() {
    const { samples, mask } = this.ring;
    const taps = 2 * this.half;
    const row = this.phase * taps;
    const first = this.head - this.half + 1;
    let sum = 0;
    for (let k = 0; k < taps; k += 1) sum += samples[(first + k) & mask] * this.kernel[row + k];
    this.phase += this.step;
    while (this.phase >= this.phases) {
      this.phase -= this.phases;
      this.head += 1;
    }
    return sum / 32768;
  }
}

/**
 * How much must wait before speech is played: next to nothing on a good network, more after each underrun, and slowly
 * less again while nothing happens. In seconds.
 */
export class Cushion {
  /** Before the first sound of a page's life, after an underrun, and at the very most. */
  static LEAST_S = 0.03;
  static RESUME_S = 0.25;
  static MOST_S = 2;

  /** Time without an underrun after which half of it is gone. */
  static HALF_LIFE_S = 60;

  /** Speech that is there is never kept waiting longer than this. */
  static PATIENCE_S = 1;

  seconds = Cushion.LEAST_S;

  /** @param {boolean} again after an underrun, rather than before the first sound. */
  wanted(again) {
    return again ? Math.max(this.seconds, Cushion.RESUME_S) : this.seconds;
  }

  grow() {
    this.seconds = Math.min(Cushion.MOST_S, Math.max(Cushion.RESUME_S, 2 * this.seconds));
  }

  shrink(playedS) {
    this.seconds = Math.max(Cushion.LEAST_S, this.seconds * 2 ** (-playedS / Cushion.HALF_LIFE_S));
  }
}

export class StreamProcessor extends AudioWorkletProcessor {
  constructor({ processorOptions }) {
    super();
    this.ring = new Ring(processorOptions.capacity);
    this.cushion = new Cushion();
    this.id = null;
    this.tail = 0;
    this.frames = 0;
    this.quanta = 0;
    this.port.onmessage = ({ data }) => this.receive(data);
  }

  receive(message) {
    if (message.type === "begin") return this.begin(message);
    if (message.id !== this.id) return undefined;
    if (message.type === "write") return this.ring.write(message.samples);
    if (message.type === "cut") this.cut(message.to);
    if (message.type === "rest") this.restsAt = this.ring.written;
    if (message.type === "more") this.restsAt = -1;
    if (message.type === "stop") this.id = null;
    if (message.type === "end") this.finishInput();
    return undefined;
  }

  begin({ id, rateHz }) {
    this.id = id;
    this.ring.clear();
    this.resampler = new Resampler(this.ring, rateHz, sampleRate);
    this.rateHz = rateHz;
    this.content = Infinity;
    this.playing = false;
    this.started = false;
    this.fade = 0;
    this.underruns = 0;
    this.quanta = 0;
    this.waitedS = 0;
    this.restsAt = -1;
    this.ranDry = false;
  }

  /** The resampler reads `half` samples ahead, so no less than that stays. */
  cut(to) {
    const { head, half } = this.resampler;
    this.ring.written = Math.min(this.ring.written, Math.max(to, head + half));
  }

  /** After the last sample come zeros, so that the resampler's window runs out over silence. */
  finishInput() {
    this.content = this.ring.written;
    this.ring.write(new Int16Array(this.resampler.half + 1));
  }

  get consumed() {
    return Math.min(this.resampler.head, this.content, this.ring.written);
  }

  process(_inputs, [[output]]) {
    const mine = this.id;
    if (mine !== null) this.decideToPlay(output.length / sampleRate);
    for (let i = 0; i < output.length; i += 1) output[i] = this.frame();
    if (mine !== null) this.report(mine, currentTime + output.length / sampleRate);
    return true;
  }

  decideToPlay(quantumS) {
    if (this.playing) {
      this.cushion.shrink(quantumS);
      return;
    }
    const waiting = this.ring.written - this.resampler.head;
    const some = waiting > this.lookahead;
    this.waitedS = some ? this.waitedS + quantumS : 0;
    const ended = this.content !== Infinity;
    if (ended ? this.resampler.head < this.content : this.enough(waiting)) this.play(some);
  }

  /** What the resampler must see beyond the sample it plays, and a little more, so that it does not stop at once. */
  get lookahead() {
    return 2 * this.resampler.half + 1;
  }

  enough(waiting) {
    if (waiting >= this.cushion.wanted(this.started) * this.rateHz || this.waitedS > Cushion.PATIENCE_S) return true;
    return this.ring.written === this.restsAt && waiting > this.lookahead;
  }

  play(some) {
    if (this.ranDry && some) {
      this.underruns += 1;
      this.cushion.grow();
    }
    this.playing = true;
    this.ranDry = false;
    this.fade = 0;
    if (this.started) return;
    this.started = true;
    this.port.postMessage({ type: "started", id: this.id, at: currentTime });
  }

  /** The next frame: the stream's, or the fading remains of whatever was cut off. */
  frame() {
    if (this.id === null) this.playing = false;
    if (this.playing) {
      const { head, half } = this.resampler;
      if (head < this.content && head + half < this.ring.written) return this.speechFrame();
      this.playing = false;
      this.ranDry = this.ring.written !== this.restsAt;
    }
    this.tail = Math.abs(this.tail) < 1e-5 ? 0 : this.tail * TAIL_DECAY;
    return this.tail;
  }

  speechFrame() {
    this.tail = this.resampler.next() * this.fade;
    this.fade = Math.min(1, this.fade + FADE_IN_STEP);
    this.frames += 1;
    return this.tail;
  }

  report(id, at) {
    const over = this.content !== Infinity && this.resampler.head >= this.content;
    this.quanta += 1;
    if (over || this.quanta % REPORT_QUANTA === 0) {
      const { consumed, playing, underruns, frames } = this;
      const cushionS = this.cushion.wanted(underruns > 0);
      this.port.postMessage({ type: "progress", id, at, consumed, playing, underruns, frames, cushionS });
    }
    if (!over) return;
    this.id = null;
    this.port.postMessage({ type: "drained", id });
  }
}

registerProcessor("vivavoce-stream", StreamProcessor);
