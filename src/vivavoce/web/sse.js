/** Server-sent events from a fetch body. No DOM. */

/** Cuts a stream of text, in whatever pieces it comes, into the `data` of its events. */
export class EventParser {
  #rest = "";
  #data = [];

  /**
   * @param {string} piece
   * @returns {string[]} the data of each event that is now complete.
   */
  feed(piece) {
    const lines = (this.#rest + piece).split(/\r\n|\n|\r(?!$)/);
    this.#rest = lines.pop() ?? "";
    return lines.flatMap((line) => this.#line(line));
  }

  #line(line) {
    if (line.startsWith("data:")) this.#data.push(line.slice(line[5] === " " ? 6 : 5));
    if (line !== "" || this.#data.length === 0) return [];
    const event = this.#data.join("\n");
    this.#data = [];
    return [event];
  }
}

/**
 * @param {ReadableStream<Uint8Array>} body
 * @returns {AsyncGenerator<string>} the data of each event; leaving the loop cancels the body.
 */
export async function* eventsOf(body) {
  const parser = new EventParser();
  const decoder = new TextDecoder();
  const reader = body.getReader();
  try {
    for (;;) {
      const { done, value } = await reader.read();
      if (done) return;
      yield* parser.feed(decoder.decode(value, { stream: true }));
    }
  } finally {
    reader.cancel().catch(() => {});
  }
}
