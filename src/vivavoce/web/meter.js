/** A line that moves with the sound. */

const BARS = 96;

export class Meter {
  #canvas;
  #levels = new Float32Array(BARS);
  #samples = null;

  /** @param {HTMLCanvasElement} canvas drawn in its own CSS colour. */
  constructor(canvas) {
    this.#canvas = canvas;
    new ResizeObserver(() => this.draw(null)).observe(canvas);
    matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => this.draw(null));
  }

  /** One more step; without an analyser the line falls to rest. @returns {boolean} whether it still moves. */
  draw(analyser) {
    this.#levels.copyWithin(0, 1);
    this.#levels[BARS - 1] = analyser ? this.#loudness(analyser) : 0;
    this.#paint();
    return this.#levels.some((level) => level > 0);
  }

  /** Falls to rest at once. */
  rest() {
    this.#levels.fill(0);
    this.#paint();
  }

  #loudness(analyser) {
    this.#samples ??= new Float32Array(analyser.fftSize);
    analyser.getFloatTimeDomainData(this.#samples);
    const power = this.#samples.reduce((sum, sample) => sum + sample * sample, 0) / this.#samples.length;
    return Math.min(1, (Math.sqrt(power) * 5) ** 0.8);
  }

  #paint() {
    const { clientWidth, clientHeight } = this.#canvas;
    const scale = devicePixelRatio || 1;
    this.#canvas.width = clientWidth * scale;
    this.#canvas.height = clientHeight * scale;
    const pen = this.#canvas.getContext("2d");
    pen.scale(scale, scale);
    pen.fillStyle = getComputedStyle(this.#canvas).color;
    const inset = 24;
    const step = (clientWidth - 2 * inset) / BARS;
    this.#levels.forEach((level, i) => {
      const height = Math.max(2, level * 0.85 * clientHeight);
      pen.globalAlpha = level > 0 ? 0.35 + 0.65 * level : 0.22;
      pen.beginPath();
      pen.roundRect(inset + i * step, (clientHeight - height) / 2, Math.max(1.5, step * 0.45), height, 2);
      pen.fill();
    });
  }
}
