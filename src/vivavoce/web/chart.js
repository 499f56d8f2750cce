/** A small line over time, drawn as SVG in the page's own colours. */

const SVG = "http://www.w3.org/2000/svg";

/** The drawing's own units; CSS stretches it, strokes stay as thin as they are. */
const WIDTH = 200;
const HEIGHT = 48;

/** Room above the highest value. */
const HEADROOM = 1.15;

export class Chart {
  #lines;
  #area;

  /**
   * @param {SVGSVGElement} svg
   * @param {{classes: string[], atLeast: number}} options one class a line; the first has its area filled. `atLeast` is
   *   the smallest value that the top stands for, so that noise near zero stays small.
   */
  constructor(svg, { classes, atLeast }) {
    this.svg = svg;
    this.atLeast = atLeast;
    svg.setAttribute("viewBox", `0 0 ${WIDTH} ${HEIGHT}`);
    svg.setAttribute("preserveAspectRatio", "none");
    svg.setAttribute("aria-hidden", "true");
    this.#area = path("area");
    this.#lines = classes.map((name) => path(`line ${name}`));
    svg.replaceChildren(this.#area, ...this.#lines);
  }

  /**
   * @param {(number | null)[][]} series one a line, oldest value first; null leaves a gap.
   * @param {number} length of the whole axis, in values: the latest stands at the right.
   */
  draw(series, length) {
    const values = series.flat().filter((value) => value !== null);
    const top = Math.max(this.atLeast, ...values) * HEADROOM;
    const points = series.map((line) => pointsOf(line, length, top));
    this.#lines.forEach((line, at) => line.setAttribute("d", lineOf(points[at])));
    this.#area.setAttribute("d", areaOf(points[0]));
  }
}

/** Runs of neighbouring points, cut where a value is missing. */
function pointsOf(line, length, top) {
  const runs = [];
  let before = null;
  line.forEach((value, at) => {
    if (value !== null) {
      if (before === null) runs.push([]);
      const x = WIDTH - ((line.length - 1 - at) / Math.max(1, length - 1)) * WIDTH;
      runs.at(-1).push([round(x), round(HEIGHT - (value / top) * (HEIGHT - 2) - 1)]);
    }
    before = value;
  });
  return runs;
}

function lineOf(runs) {
  return runs.map((run) => `M${run.map((point) => point.join(",")).join("L")}${run.length === 1 ? "h0.01" : ""}`).join("");
}

function areaOf(runs) {
  const wide = runs.filter((run) => run.length > 1);
  return wide.map((run) => `M${run[0][0]},${HEIGHT}L${run.map((point) => point.join(",")).join("L")}V${HEIGHT}Z`).join("");
}

function path(name) {
  const made = document.createElementNS(SVG, "path");
  made.setAttribute("class", name);
  return made;
}

function round(value) {
  return Math.round(value * 100) / 100;
}
