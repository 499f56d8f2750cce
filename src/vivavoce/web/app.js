/** The page at `/`: it brings the parts together. */

import { Api } from "./api.js";
import { Editor } from "./editor.js";
import { Explanation } from "./explanation.js";
import { KeyForm } from "./key-form.js";
import { Meter } from "./meter.js";
import { figuresShown, plainWords, speedOf } from "./messages.js";
import { Player } from "./player.js";
import { snippets } from "./snippets.js";
import { Speaker } from "./speaker.js";
import { VoicePicker } from "./voice-picker.js";
import { voicesOf } from "./voices.js";

const GREETING =
  "Hello there! This is your own machine speaking, for $0.00, without an account, and the first words are out before the last are made.";

/** How long speech may wait for a context that will not start before the user is told. */
const PATIENCE_MS = 1500;

const STATES = {
  idle: "Ready when you are.",
  waiting: "Making the first sound…",
  speaking: "Speaking.",
  played: "Finished.",
  stopped: "Stopped.",
  failed: "Not finished.",
  held: "Your browser holds the sound back. Press Speak once more.",
};

const at = (id) => document.getElementById(id);
const api = new Api(new URL(".", document.baseURI));
const player = new Player();
const speaker = new Speaker(api, player);
const editor = new Editor(at("editor"));
const picker = new VoicePicker(at("language"), at("voice"), at("voice-hint"));
const meter = new Meter(at("meter"));
const keyForm = new KeyForm(at("key-form"), api);
const explanation = new Explanation(at("explain"), at("explain-body"), editor, (signal) =>
  api.explain(editor.text, picker.chosen.language, signal),
);

/** Live regions are read out on every write, so the same words are never written twice. */
function tell(words) {
  if (at("status").textContent !== words) at("status").textContent = words;
}

function request() {
  return { input: editor.text, speed: speedOf(at("speed").valueAsNumber), ...picker.chosen };
}

function speak(event) {
  at("error").hidden = true;
  if (editor.text.trim() === "") {
    tell("Type something to say first.");
    editor.focus();
    return;
  }
  editor.startSpeaking();
  speaker.speak(request(), event.timeStamp);
  requestAnimationFrame(animate);
}

function stop() {
  speaker.stop();
}

async function download() {
  const format = at("format").value;
  const button = at("download");
  at("error").hidden = true;
  button.disabled = true;
  tell("Making the file…");
  try {
    save(await api.file(request(), format), `speech.${format}`);
    tell(`Saved speech.${format}.`);
  } catch (error) {
    tell("No file.");
    fail(error, download);
  } finally {
    button.disabled = false;
  }
}

function save(blob, name) {
  const link = document.createElement("a");
  link.href = URL.createObjectURL(blob);
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 60_000);
}

/** Tells what went wrong; where a key is missing, asks for it and tries again. */
function fail(error, again) {
  at("error").textContent = plainWords(error);
  at("error").hidden = false;
  if (error.status === 401) keyForm.ask(() => withKey(again));
}

async function withKey(action) {
  at("error").hidden = true;
  await loadVoices();
  if (keyForm.form.hidden) action();
}

function showState() {
  tell(STATES[speaker.state]);
  if (!speaker.active && document.activeElement === at("stop")) at("speak").focus();
  at("stop").disabled = !speaker.active;
  for (const [id, shown] of Object.entries(figuresShown(speaker.figures))) at(id).textContent = shown;
  if (!speaker.active) {
    editor.clear();
    meter.rest();
  }
}

let animating = false;
let runningMs = 0;

/** Lights words and moves the meter, once a frame, as long as anything is being said. */
function animate() {
  if (animating) return;
  animating = true;
  const calm = matchMedia("(prefers-reduced-motion: reduce)").matches;
  const step = (nowMs) => {
    animating = speaker.active;
    if (!animating) return;
    if (player.context?.state === "running") runningMs = nowMs;
    if (nowMs - runningMs > PATIENCE_MS) tell(STATES.held);
    const { last, lit } = speaker.word();
    if (last) editor.light(last.start, last.end, lit);
    if (!calm) meter.draw(player.analyser);
    requestAnimationFrame(step);
  };
  runningMs = performance.now();
  step(runningMs);
}

async function loadVoices() {
  const health = at("health");
  try {
    const voices = voicesOf(await api.voices());
    picker.offer(voices);
    const ready = voices.filter((voice) => voice.ready).length;
    health.dataset.health = ready > 0 ? "well" : "ill";
    health.textContent = ready === 1 ? "1 voice ready" : `${ready} voices ready`;
  } catch (error) {
    health.dataset.health = "ill";
    health.textContent = error.status === 401 ? "Needs a key" : "No connection";
    fail(error, () => {});
  }
}

function showSnippets() {
  for (const [id, code] of Object.entries(snippets(api.baseUrl, picker.chosen, api.key !== ""))) at(id).textContent = code;
}

async function copy(event) {
  const button = event.currentTarget;
  const code = at(button.dataset.copy);
  getSelection().selectAllChildren(code);
  // Over plain HTTP there is no clipboard; the code is selected, ready for the user's own copy.
  const copied = await navigator.clipboard?.writeText(code.textContent).then(() => true, () => false);
  button.textContent = copied ? "Copied" : "Selected";
  setTimeout(() => (button.textContent = "Copy"), 1500);
}

function shortcut(event) {
  if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) {
    event.preventDefault();
    speak(event);
  } else if (event.key === "Escape") {
    stop();
  }
}

function showSpeed() {
  const speed = speedOf(at("speed").valueAsNumber);
  at("speed-shown").textContent = `${speed}×`;
  at("speed").setAttribute("aria-valuetext", `${speed} times`);
}

at("speak").addEventListener("click", speak);
at("stop").addEventListener("click", stop);
at("download").addEventListener("click", download);
at("speed").addEventListener("input", showSpeed);
at("voice").addEventListener("change", showSnippets);
at("language").addEventListener("change", () => explanation.refresh());
for (const button of document.querySelectorAll("[data-copy]")) button.addEventListener("click", copy);
document.addEventListener("keydown", shortcut);
document.addEventListener("visibilitychange", () => {
  if (!document.hidden && speaker.active) player.wake();
});
// The audio path is built at the first touch anywhere, so that the first click on Speak does not wait for it.
for (const type of ["pointerdown", "keydown"]) {
  document.addEventListener(type, () => player.prepare().catch(() => {}), { once: true, capture: true });
}
speaker.addEventListener("change", showState);
speaker.addEventListener("failed", ({ detail }) => fail(detail, () => at("speak").click()));

if (/Mac|iPhone|iPad/.test(navigator.platform)) at("speak-keys").textContent = "⌘ ↵";
editor.text = GREETING;
showSnippets();
loadVoices();

/** For a look from the console, and for the tests. */
globalThis.__vivavoce = { api, player, speaker };
