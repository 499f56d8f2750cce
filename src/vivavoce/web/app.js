/** The page at `/`: it brings the parts together. */

import { Api } from "./api.js";
import { Choices } from "./choices.js";
import { Doors } from "./doors.js";
import { Editor } from "./editor.js";
import { Explanation } from "./explanation.js";
import { KeyForm } from "./key-form.js";
import { LivePanel } from "./live-panel.js";
import { LiveTyping } from "./live-typing.js";
import { figuresShown, placeShown, plainWords } from "./messages.js";
import { Meter } from "./meter.js";
import { Player } from "./player.js";
import { copyFrom, save } from "./saving.js";
import { snippets } from "./snippets.js";
import { Speaker } from "./speaker.js";
import { Stats } from "./stats.js";
import { Timeline } from "./timeline.js";
import { voicesOf } from "./voices.js";

const GREETING =
  "Hello there! This is your own machine speaking, for $0.00, without an account, and the first words are out before the last are made.";

/** How long speech may wait for a context that will not start before the user is told. */
const PATIENCE_MS = 1500;

const STATES = {
  idle: "Ready when you are.",
  waiting: "Making the first sound…",
  speaking: "Speaking.",
  retrying: "No connection yet. Trying again…",
  resuming: "The connection was lost. Going on from the next word…",
  played: "Finished.",
  stopped: "Stopped.",
  failed: "Not finished.",
  held: "Your browser holds the sound back. Press Speak once more, and see that a loudspeaker is there.",
  typing: "Type: what you write is spoken.",
};

const at = (id) => document.getElementById(id);
const api = new Api(new URL(".", document.baseURI));
const doors = new Doors(api);
const player = new Player();
const speaker = new Speaker(doors, player);
const editor = new Editor(at("editor"));
editor.text = GREETING;
const choices = new Choices(at, api);
const meter = new Meter(at("meter"));
const keyForm = new KeyForm(at("key-form"), api);
const stats = new Stats(api);
const timeline = new Timeline(at("timeline"));
const typing = new LiveTyping(editor, speaker, beginTyped);
const explanation = new Explanation(at("explain"), at("explain-body"), editor, (signal) =>
  api.explain(editor.text, choices.language.chosen?.tag, signal),
);

/** Live regions are read out on every write, so the same words are never written twice. */
function tell(words) {
  if (at("status").textContent !== words) at("status").textContent = words;
}

function speak(event) {
  if (!sayable()) return;
  if (at("live-typing").checked) {
    typing.speakAll();
    return;
  }
  typing.leave();
  editor.startSpeaking();
  begin({ text: editor.text }, event.timeStamp);
}

/** Tells why there is nothing to say, if there is not. */
function sayable() {
  at("error").hidden = true;
  if (editor.text.trim() === "") {
    tell("Type something to say first.");
    editor.focus();
    return false;
  }
  if (choices.missing) tell(choices.missing);
  return !choices.missing;
}

/** Begins to say what is being typed. */
function beginTyped(typist, text) {
  if (!sayable()) return;
  editor.startSpeaking((changed) => typist.holds(changed));
  begin({ text, stream: true }, performance.now());
}

function begin(wanted, clickedMs) {
  speaker.speak({ ...choices.wanted, ...wanted }, clickedMs);
  requestAnimationFrame(animate);
}

function stop() {
  typing.leave();
  speaker.stop();
}

async function download() {
  const format = at("format").value;
  const button = at("download");
  const { instruct, ...wanted } = choices.wanted;
  const focused = document.activeElement === button;
  at("error").hidden = true;
  button.disabled = true;
  tell("Making the file…");
  try {
    save(await api.file({ input: editor.text, instructions: instruct, ...wanted }, format), `speech.${format}`);
    tell(`Saved speech.${format}.`);
  } catch (error) {
    tell("No file.");
    fail(error, download);
  } finally {
    button.disabled = false;
    if (focused && document.activeElement === document.body) button.focus();
  }
}

/** Tells what went wrong; where a key is missing, asks for it and tries again. */
function fail(error, again) {
  if (error.status === 401 && api.key) error.code = "wrong_api_key";
  at("error").textContent = plainWords(error);
  at("error").hidden = false;
  if (error.status === 401) keyForm.ask(() => withKey(again));
}

async function withKey(action) {
  at("error").hidden = true;
  doors.renew();
  await loadVoices(action);
  if (!keyForm.form.hidden) return;
  if (document.activeElement === document.body) at("speak").focus();
  action();
}

function showState() {
  const { state, place, figures, active, story } = speaker;
  held &&= active;
  if (!held) tell(state === "queued" ? placeShown(place) : STATES[state]);
  if (!active && document.activeElement === at("stop")) at("speak").focus();
  at("stop").disabled = !active;
  for (const [id, shown] of Object.entries(figuresShown(figures))) at(id).textContent = shown;
  timeline.show(story, figures, !active);
  if (active) return;
  editor.clear();
  meter.rest();
}

let animating = false;
let runningMs = 0;
let held = false;
let gone = false;

/** Lights words and moves the meter, once a frame, as long as anything is being said. */
function animate() {
  if (animating) return;
  animating = true;
  const calm = matchMedia("(prefers-reduced-motion: reduce)").matches;
  const step = (nowMs) => {
    animating = speaker.active;
    if (!animating) return;
    notice(nowMs);
    light();
    if (!calm) meter.draw(player.analyser);
    requestAnimationFrame(step);
  };
  runningMs = performance.now();
  step(runningMs);
}

/** Tells when a context will not start, and when it has after all. */
function notice(nowMs) {
  if (player.context?.state === "running" || speaker.state === "queued") runningMs = nowMs;
  const before = held;
  held = nowMs - runningMs > PATIENCE_MS;
  if (held) tell(STATES.held);
  else if (before) showState();
}

function light() {
  const { last, lit } = speaker.word();
  const { offset } = typing;
  if (last && offset !== null) editor.light(last.start + offset, last.end + offset, lit);
}

/** @param {() => void} again is called once a key is given, where one is asked for. */
async function loadVoices(again = () => {}) {
  const health = at("health");
  try {
    const [answer, languages] = await Promise.all([api.voices(), api.languages()]);
    const voices = voicesOf(answer);
    choices.offer(voices, languages);
    const ready = voices.filter((voice) => voice.ready).length;
    if (health.dataset.health === "ill") at("error").hidden = true;
    health.dataset.health = ready > 0 ? "well" : "ill";
    health.textContent = ready === 1 ? "1 voice ready" : `${ready} voices ready`;
    if (stats.state === "locked") stats.resume();
  } catch (error) {
    health.dataset.health = "ill";
    health.textContent = error.status === 401 ? "Needs a key" : "No connection";
    fail(error, again);
  }
}

/** That the server is gone, or there again, is seen by its numbers first. */
function watchServer() {
  if (stats.state === "broken") {
    gone = true;
    at("health").dataset.health = "ill";
    at("health").textContent = "No connection";
  } else if (gone) {
    gone = false;
    loadVoices();
  }
}

function showSnippets() {
  const codes = snippets(api.baseUrl, choices.wanted, api.key !== "");
  for (const [id, code] of Object.entries(codes)) at(id).textContent = code;
}

function shortcut(event) {
  if (event.isComposing) return;
  if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) {
    event.preventDefault();
    speak(event);
  } else if (event.key === "Escape") {
    stop();
  }
}

function switchTyping() {
  typing.on = at("live-typing").checked;
  if (!typing.on) typing.finish();
  else if (!speaker.active) tell(STATES.typing);
  if (typing.on) editor.focus();
}

at("speak").addEventListener("click", speak);
at("stop").addEventListener("click", stop);
at("download").addEventListener("click", download);
at("live-typing").addEventListener("change", switchTyping);
choices.addEventListener("change", showSnippets);
choices.language.addEventListener("change", () => explanation.refresh());
for (const button of document.querySelectorAll("[data-copy]")) button.addEventListener("click", copyFrom(at));
document.addEventListener("keydown", shortcut);
document.addEventListener("visibilitychange", () => {
  if (!document.hidden && speaker.active) player.wake();
});
// The way to the ear is built at the first touch anywhere, so that the first click on Speak does not wait for it.
for (const type of ["pointerdown", "keydown"]) {
  document.addEventListener(type, prepare, { once: true, capture: true });
}
speaker.addEventListener("change", showState);
stats.addEventListener("change", watchServer);
speaker.addEventListener("failed", ({ detail }) => fail(detail, () => at("speak").click()));

function prepare() {
  player.prepare().catch(() => {});
  doors.prepare();
}

if (/Mac|iPhone|iPad/.test(navigator.platform)) at("speak-keys").textContent = "⌘ ↵";
showSnippets();
new LivePanel(at("live"), stats);
loadVoices();

/** For a look from the console, and for the tests. */
globalThis.__vivavoce = { api, doors, player, speaker, stats };
