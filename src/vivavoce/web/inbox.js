/** What one side puts in, the other takes out in order, waiting where there is nothing yet. No DOM. */

export class Inbox {
  #items = [];
  #over = false;
  #error = null;
  #wake = () => {};

  /** Adds an item; after `close` it is dropped. */
  push(item) {
    if (this.#over) return;
    this.#items.push(item);
    this.#wake();
  }

  /** Ends it. @param {Error | null} error is thrown to the taker after the last item. */
  close(error = null) {
    if (this.#over) return;
    this.#over = true;
    this.#error = error;
    this.#wake();
  }

  /** Ends it and forgets what nobody took. */
  clear() {
    this.#items = [];
    this.close();
  }

  async *[Symbol.asyncIterator]() {
    for (;;) {
      while (this.#items.length > 0) yield this.#items.shift();
      if (this.#over && this.#error) throw this.#error;
      if (this.#over) return;
      await new Promise((resolve) => {
        this.#wake = resolve;
      });
    }
  }
}
