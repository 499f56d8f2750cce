/** A text field with a list that narrows as one types (ARIA: combobox with a listbox). */

/** Options moved by Page Up and Page Down. */
const PAGE = 10;

/**
 * @template T
 * @typedef {{search: (query: string) => T[], groupOf: (item: T) => string, labelOf: (item: T) => string,
 *   noteOf: (item: T) => string, nothing: string}} Source `search` gives the members of a group together.
 */

/** Fires "change" when another item is chosen. */
export class Combobox extends EventTarget {
  #items = [];
  #active = -1;
  #chosen = null;

  /**
   * @template T
   * @param {HTMLInputElement} input with role combobox.
   * @param {HTMLElement} list with role listbox.
   * @param {HTMLElement} count is told how many there are.
   * @param {Source<T>} source
   */
  constructor(input, list, count, source) {
    super();
    Object.assign(this, { input, list, count, source });
    input.addEventListener("input", () => this.#open(input.value));
    input.addEventListener("click", () => this.#clicked());
    input.addEventListener("focus", () => this.#select());
    input.addEventListener("blur", () => this.#close());
    input.addEventListener("keydown", (event) => this.#key(event));
    list.addEventListener("pointerdown", (event) => event.preventDefault());
    list.addEventListener("click", (event) => this.#pick(event.target.closest("[role=option]")));
  }

  /** The chosen item, or null. */
  get chosen() {
    return this.#chosen;
  }

  /** Chooses an item without firing "change". */
  set chosen(item) {
    this.#chosen = item;
    this.input.value = item ? this.source.labelOf(item) : "";
    this.#select();
  }

  get #isOpen() {
    return !this.list.hidden;
  }

  /** What is typed next replaces the choice, whose beginning stays in sight. */
  #select() {
    const { input } = this;
    if (document.activeElement === input) input.setSelectionRange(0, input.value.length, "backward");
  }

  /** Some browsers set the caret after the focus, and so undo its selection. */
  #clicked() {
    if (!this.#isOpen) this.#select();
    this.#open("");
  }

  #open(query) {
    this.#items = this.source.search(query);
    this.list.replaceChildren(...this.#groups());
    this.list.hidden = false;
    this.input.setAttribute("aria-expanded", "true");
    this.count.textContent = this.#items.length === 1 ? "1 language" : `${this.#items.length} languages`;
    const known = this.#items.indexOf(this.#chosen);
    this.#mark(query === "" ? known : 0);
  }

  #close() {
    this.list.hidden = true;
    this.list.replaceChildren();
    this.input.setAttribute("aria-expanded", "false");
    this.input.removeAttribute("aria-activedescendant");
    this.count.textContent = "";
    this.#active = -1;
    this.chosen = this.#chosen;
  }

  #groups() {
    if (this.#items.length === 0) return [made("p", "nothing", this.source.nothing)];
    const groups = new Map();
    this.#items.forEach((item, at) => {
      const name = this.source.groupOf(item);
      if (!groups.has(name)) groups.set(name, this.#group(name));
      groups.get(name).append(this.#option(item, at));
    });
    return [...groups.values()];
  }

  #group(name) {
    const group = made("div", "group");
    group.setAttribute("role", "group");
    group.setAttribute("aria-label", name);
    const title = made("p", "group-name", name);
    title.setAttribute("aria-hidden", "true");
    group.append(title);
    return group;
  }

  #option(item, at) {
    const option = made("div", "option", this.source.labelOf(item));
    const note = this.source.noteOf(item);
    if (note) option.append(" ", made("span", "note", note));
    option.id = `${this.list.id}-${at}`;
    option.setAttribute("role", "option");
    option.setAttribute("aria-selected", String(item === this.#chosen));
    option.dataset.at = at;
    return option;
  }

  get #options() {
    return this.list.querySelectorAll("[role=option]");
  }

  #mark(at) {
    const options = this.#options;
    options[this.#active]?.classList.remove("active");
    this.#active = Math.max(-1, Math.min(at, options.length - 1));
    const option = options[this.#active];
    if (!option) return this.input.removeAttribute("aria-activedescendant");
    option.classList.add("active");
    option.scrollIntoView({ block: "nearest" });
    return this.input.setAttribute("aria-activedescendant", option.id);
  }

  #key(event) {
    const steps = { ArrowDown: 1, ArrowUp: -1, PageDown: PAGE, PageUp: -PAGE };
    if (event.key in steps) {
      event.preventDefault();
      if (this.#isOpen) this.#mark(Math.max(0, this.#active + steps[event.key]));
      else this.#open("");
    } else if (event.key === "Enter" && this.#isOpen && !(event.ctrlKey || event.metaKey)) {
      event.preventDefault();
      this.#pick(this.#options[this.#active]);
    } else if (event.key === "Escape" && this.#isOpen) {
      event.stopPropagation();
      this.#close();
    }
  }

  #pick(option) {
    if (!option) return;
    const item = this.#items[option.dataset.at];
    const changed = item !== this.#chosen;
    this.#chosen = item;
    this.#close();
    if (changed) this.dispatchEvent(new Event("change"));
  }
}

function made(name, className, text = "") {
  const element = document.createElement(name);
  element.className = className;
  element.textContent = text;
  return element;
}
