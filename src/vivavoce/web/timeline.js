/** What became of the last utterance, drawn as bars over time, with the same in words and numbers. */

import { duration, factor } from "./messages.js";

const SVG = "http://www.w3.org/2000/svg";

/** A whole width, in the drawing's own units; and the height of a row. */
const WIDTH = 1000;
const ROW = 22;

/** Segments drawn at once; a book would freeze the page. */
const SHOWN = 60;

const OUTCOMES = {
  ok: "spoken to its end",
  cancelled: "stopped",
  client_gone: "stopped",
  shed: "refused",
  error: "broken off",
};

export class Timeline {
  /** @param {HTMLElement} root holds the summary, the steps, the segments' table and what is said where there is none. */
  constructor(root) {
    this.root = root;
    [this.summary, this.steps, this.scroll, this.table, this.none] = [".summary", ".steps", ".scroll", "table", ".none"].map(
      (one) => root.querySelector(one),
    );
  }

  /**
   * @param {import("./story.js").Story | null} story
   * @param {import("./saying.js").Figures | null} figures
   * @param {boolean} over whether nothing of it sounds any more.
   */
  show(story, figures, over) {
    const firstMs = figures?.firstSoundMs ?? null;
    const steps = story?.steps(firstMs) ?? [];
    const parts = story?.segments ?? [];
    this.none.hidden = steps.length + parts.length > 0;
    this.scroll.hidden = parts.length === 0;
    this.summary.hidden = this.steps.hidden = steps.length === 0;
    if (steps.length > 0) this.#showSteps(steps, story, firstMs, over);
    if (parts.length > 0) this.#showParts(story, firstMs);
  }

  #showSteps(steps, story, firstMs, over) {
    const { outcome, retries = 0, underruns = 0 } = story.done ?? {};
    const facts = [
      over ? OUTCOMES[outcome] : "",
      firstMs === null ? "" : `first sound after ${duration(firstMs)}`,
      story.lostMs.length > 0 ? `went on after ${times(story.lostMs.length, "lost connection")}` : "",
      retries > 0 ? `${times(retries, "phrase")} made again` : "",
      underruns > 0 ? times(underruns, "underrun") : "",
    ].filter(Boolean);
    const sentence = facts.join(", ");
    this.summary.textContent = sentence ? `${sentence.charAt(0).toUpperCase()}${sentence.slice(1)}.` : "";
    const endMs = Math.max(1, ...steps.map((step) => step.endMs));
    const bar = drawing(ROW);
    bar.append(...steps.map((step, at) => rect(`step step-${at}`, step.startMs / endMs, step.endMs / endMs, 0, ROW)));
    const list = made("ul", "legend");
    list.append(...steps.map((step, at) => legend(step, at)));
    this.steps.replaceChildren(bar, list);
  }

  #showParts(story, firstMs) {
    const endMs = story.endMs(firstMs);
    const parts = story.segments.slice(-SHOWN);
    this.table.tBodies[0].replaceChildren(...parts.map((part) => rowOf(part, (ms) => story.heardAtMs(ms, firstMs), endMs)));
    this.table.tHead.querySelector(".scale").textContent = `0 – ${duration(endMs)}`;
  }
}

function rowOf(part, heardAtMs, endMs) {
  const row = made("tr");
  const name = made("th", "", part.text.trim());
  name.scope = "row";
  name.dir = "auto";
  name.title = part.text.trim();
  const where = part.where ? made("small", "", part.where) : "";
  name.append(where);
  const bars = made("td", "bars");
  bars.append(barsOf(part, heardAtMs, endMs));
  row.append(name, bars, ...numbersOf(part).map((text) => made("td", "number", text)));
  return row;
}

function numbersOf({ waitedMs, synthesisMs, audioMs, rtf, readyMs }) {
  if (readyMs === 0) return ["–", "–", audioMs > 0 ? duration(audioMs) : "–", "–"];
  return [duration(waitedMs), duration(synthesisMs), duration(audioMs), rtf === null ? "–" : factor(rtf)];
}

/** Waiting and synthesis above, the sound below. */
function barsOf({ waitedMs, synthesisMs, audioMs, readyMs, soundMs }, heardAtMs, endMs) {
  const svg = drawing(ROW);
  const madeFrom = Math.max(0, readyMs - synthesisMs);
  if (waitedMs > 0) svg.append(rect("waited", Math.max(0, madeFrom - waitedMs) / endMs, madeFrom / endMs, 2, 6));
  if (readyMs > 0) svg.append(rect("made", madeFrom / endMs, readyMs / endMs, 2, 6));
  if (audioMs > 0) svg.append(rect("sounded", heardAtMs(soundMs) / endMs, heardAtMs(soundMs + audioMs) / endMs, 11, 8));
  return svg;
}

function legend({ name, startMs, endMs }, at) {
  const item = made("li", `step-${at}`, `${name} `);
  item.append(made("b", "", duration(endMs - startMs)));
  return item;
}

function drawing(height) {
  const svg = document.createElementNS(SVG, "svg");
  svg.setAttribute("viewBox", `0 0 ${WIDTH} ${height}`);
  svg.setAttribute("preserveAspectRatio", "none");
  svg.setAttribute("aria-hidden", "true");
  return svg;
}

/** A bar between two shares of the width, never too thin to be seen. */
function rect(name, from, to, y, height) {
  const bar = document.createElementNS(SVG, "rect");
  const values = { class: name, x: from * WIDTH, y, width: Math.max(2, (to - from) * WIDTH), height };
  for (const [key, value] of Object.entries(values)) bar.setAttribute(key, value);
  return bar;
}

function made(name, className = "", text = "") {
  const element = document.createElement(name);
  if (className) element.className = className;
  element.textContent = text;
  return element;
}

function times(count, noun) {
  return `${count} ${noun}${count === 1 ? "" : "s"}`;
}
