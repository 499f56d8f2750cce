/** Asks for the API key when the server wants one. The key lives in this tab only. */

const STORE = "vivavoce.key";

export class KeyForm {
  #again = () => {};

  /**
   * @param {HTMLFormElement} form
   * @param {import("./api.js").Api} api gets the key kept from before, and every new one.
   */
  constructor(form, api) {
    this.form = form;
    this.input = form.querySelector("input");
    api.key = sessionStorage.getItem(STORE) ?? "";
    this.input.addEventListener("input", () => this.input.setCustomValidity(""));
    form.addEventListener("submit", (event) => {
      event.preventDefault();
      if (!this.#valid()) return;
      api.key = this.input.value.trim();
      sessionStorage.setItem(STORE, api.key);
      form.hidden = true;
      this.#again();
    });
  }

  /** A header carries only plain characters; anything else cannot be a key. */
  #valid() {
    const plain = /^[\x21-\x7e]+$/.test(this.input.value.trim());
    this.input.setCustomValidity(plain ? "" : "A key has only plain letters, digits and signs.");
    return this.input.reportValidity();
  }

  /** Shows the form. @param {() => void} again is called once a key is given. */
  ask(again) {
    this.#again = again;
    this.form.hidden = false;
    this.input.focus();
    this.input.select();
  }
}
