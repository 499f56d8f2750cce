/** The panel that shows what will be said for the text, and why. */

/** Segments shown at once; a book would freeze the page. */
const SHOWN = 200;

/** Typing rests this long before the panel asks again. */
const REST_MS = 350;

export class Explanation {
  #aborter = null;
  #timer = 0;

  /**
   * @param {HTMLDetailsElement} panel
   * @param {HTMLElement} body
   * @param {import("./editor.js").Editor} editor shows where words come from.
   * @param {(signal: AbortSignal) => Promise<object>} ask gets the explanation of the text as it is.
   */
  constructor(panel, body, editor, ask) {
    Object.assign(this, { panel, body, editor, ask });
    panel.addEventListener("toggle", () => this.refresh(0));
    editor.addEventListener("input", () => this.refresh());
  }

  /** Asks anew, if anyone is looking. */
  refresh(restMs = REST_MS) {
    clearTimeout(this.#timer);
    this.#aborter?.abort();
    if (this.panel.open) this.#timer = setTimeout(() => this.#load(), restMs);
  }

  async #load() {
    const aborter = new AbortController();
    this.#aborter = aborter;
    if (this.editor.text.trim() === "") return this.#say("There is nothing to say yet.");
    try {
      const { segments } = await this.ask(aborter.signal);
      this.#show(segments);
    } catch (error) {
      if (error.name !== "AbortError") this.#say(error.message);
    }
    return undefined;
  }

  #say(sentence) {
    this.body.replaceChildren(element("p", "source", sentence));
  }

  #show(segments) {
    const list = element("ol", "segments");
    list.append(...segments.slice(0, SHOWN).map((segment) => this.#segment(segment)));
    const more = segments.length - SHOWN;
    this.body.replaceChildren(list);
    if (more > 0) this.body.append(element("p", "source", `… and ${more} more.`));
  }

  #segment(segment) {
    const item = element("li");
    for (const part of segment.parts) {
      if (!isPunctuation(part.words)) item.append(" ");
      item.append(this.#part(part));
    }
    item.dir = "auto";
    return item;
  }

  #part(part) {
    const shown = element(part.words || part.pause_ms ? "span" : "s", "part", shownFor(part));
    if (part.words !== part.source) {
      shown.classList.add("changed");
      shown.tabIndex = 0;
      shown.append(element("span", "rule", part.rule));
    }
    shown.title = `“${part.source}”`;
    for (const type of ["pointerenter", "focus"]) shown.addEventListener(type, () => this.editor.peek(part.start, part.end));
    for (const type of ["pointerleave", "blur"]) shown.addEventListener(type, () => this.editor.unpeek());
    return shown;
  }
}

/** The words; a pause by its length; what is left out as it stands in the text. */
function shownFor({ words, pause_ms: pauseMs, source }) {
  if (words) return words;
  return pauseMs ? `pause ${(pauseMs / 1000).toLocaleString("en")} s` : source.trim();
}

function isPunctuation(words) {
  return /^\p{P}+$/u.test(words);
}

function element(name, className = "", text = "") {
  const made = document.createElement(name);
  made.className = className;
  made.textContent = text;
  return made;
}
