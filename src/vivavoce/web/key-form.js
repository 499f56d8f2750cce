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
    form.addEventListener("submit", (event) => {
      event.preventDefault();
      api.key = this.input.value.trim();
      sessionStorage.setItem(STORE, api.key);
      form.hidden = true;
      this.#again();
    });
  }

  /** Shows the form. @param {() => void} again is called once a key is given. */
  ask(again) {
    this.#again = again;
    this.form.hidden = false;
    this.input.focus();
    this.input.select();
  }
}
