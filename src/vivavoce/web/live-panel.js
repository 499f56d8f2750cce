/** The panel of live numbers: four small charts, what was refused, and where speech is made. */

import { Chart } from "./chart.js";
import { duration, factor } from "./messages.js";

const STATES = {
  connecting: "Waiting for numbers…",
  live: "",
  broken: "Connection lost. The numbers are from before; trying again…",
  locked: "The API key opens the numbers, too.",
  missing: "This server does not show its numbers here.",
};

/** @typedef {import("./stats.js").Sample} Sample */

/** Seconds on the axis of time at least, so that the first numbers do not stretch over all of it. */
const LEAST_S = 60;

const CHARTS = {
  ttfa: { lines: [(s) => s.ttfaMs, (s) => s.ttfa95Ms], classes: ["first", "second"], atLeast: 50 },
  rtf: { lines: [(s) => s.rtf], classes: ["first"], atLeast: 0.02 },
  streams: { lines: [(s) => s.streams, (s) => s.capacity], classes: ["first", "limit"], atLeast: 1 },
  queue: { lines: [(s) => s.queue], classes: ["first"], atLeast: 1 },
};

export class LivePanel {
  #charts = new Map();

  /**
   * @param {HTMLElement} root
   * @param {import("./stats.js").Stats} stats
   */
  constructor(root, stats) {
    this.root = root;
    this.stats = stats;
    for (const [name, { classes, atLeast }] of Object.entries(CHARTS)) {
      this.#charts.set(name, new Chart(root.querySelector(`#chart-${name}`), { classes, atLeast }));
    }
    stats.addEventListener("change", () => this.#show());
    document.addEventListener("visibilitychange", () => this.#look());
    this.#show();
    this.#look();
  }

  /** Numbers nobody looks at are not asked for. */
  #look() {
    if (document.hidden) this.stats.pause();
    else this.stats.resume();
  }

  #at(id) {
    return this.root.querySelector(`#${id}`);
  }

  #show() {
    const { state, latest, history } = this.stats;
    this.root.dataset.state = state;
    put(this.#at("live-state"), STATES[state]);
    if (!latest) return;
    const axisS = Math.max(LEAST_S, history.length);
    for (const [name, { lines }] of Object.entries(CHARTS)) {
      this.#charts.get(name).draw(lines.map((of) => history.map(of)), axisS);
    }
    const minutes = Math.round(axisS / 60);
    put(this.#at("live-span"), minutes === 1 ? "the last minute" : `the last ${minutes} minutes`);
    for (const [id, text] of Object.entries(figures(latest))) put(this.#at(id), text);
    this.#predictors(latest.predictors ?? []);
  }

  #predictors(predictors) {
    const rows = predictors.map(rowOf);
    this.#at("predictors").parentElement.hidden = rows.length === 0;
    this.#at("predictors").tBodies[0].replaceChildren(...rows);
  }
}

/** What stands beside the charts, by element id. */
function figures({ ttfa_ms: ttfa, rtf, streams = 0, queue = 0, capacity = 0, queue_wait_ms: wait, ...counts }) {
  const free = capacity > streams ? `${count(capacity - streams)} free` : "full";
  return {
    "now-ttfa": shown(ttfa?.p50, duration),
    "more-ttfa": `95 % within ${shown(ttfa?.p95, duration)}`,
    "now-rtf": shown(rtf?.p50, factor),
    "more-rtf": rtf?.p50 > 0 ? `${faster(1 / rtf.p50)}× real time` : "no speech lately",
    "now-streams": count(streams),
    "more-streams": `of ${count(capacity)}, ${free}`,
    "now-queue": count(queue),
    "more-queue": `95 % waited ${shown(wait?.p95, duration)}`,
    ...counted(counts),
  };
}

/** What happened since the server started, or, from a server that tells less, lately. */
function counted({ outcomes_total: total, outcomes = {}, busy_total: busy, underruns_total: dry, underruns = 0 }) {
  const { ok = 0, error = 0, cancelled = 0, client_gone: gone = 0, shed = 0 } = total ?? outcomes;
  return {
    "count-ok": count(ok),
    "count-stopped": count(cancelled + gone),
    "count-busy": count(busy ?? shed),
    "count-failed": count(error),
    "count-underruns": count(dry ?? underruns),
  };
}

function rowOf({ endpoint = "", tier = "", node = "", model = "", state = "", outstanding = 0, slots = 0, ...counts }) {
  const row = document.createElement("tr");
  const name = document.createElement("th");
  name.scope = "row";
  name.append(node || hostOf(endpoint) || "this process", small([model, tier].filter(Boolean).join(" · ")));
  const condition = cell(state || "ready");
  condition.dataset.condition = state || "ready";
  row.append(name, condition, cell(`${count(outstanding)} / ${count(slots)}`), cell(count(counts.requests ?? 0)), cell(count(counts.failures ?? 0)));
  return row;
}

function cell(text) {
  const made = document.createElement("td");
  made.textContent = text;
  return made;
}

function small(text) {
  const made = document.createElement("small");
  made.textContent = text;
  return made;
}

function hostOf(endpoint) {
  return URL.canParse(endpoint) ? new URL(endpoint).host : endpoint;
}

/** Times faster than it is heard. */
function faster(times) {
  return times < 10 ? times.toFixed(1) : count(times);
}

function shown(value, format) {
  return value === null || value === undefined ? "–" : format(value);
}

function count(value) {
  return Math.round(value).toLocaleString("en");
}

/** Writes only what changed, so that a screen reader's place and a selection survive. */
function put(element, text) {
  if (element.textContent !== text) element.textContent = text;
}
