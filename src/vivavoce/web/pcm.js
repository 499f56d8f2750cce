/** PCM as it comes over the wire: 16-bit little-endian mono samples, bare or in base64. No DOM. */

/** @param {string} base64 @returns {Uint8Array} */
export function bytesOf(base64) {
  if (Uint8Array.fromBase64) return Uint8Array.fromBase64(base64);
  return Uint8Array.from(atob(base64), (character) => character.charCodeAt(0));
}

/** @param {Uint8Array} bytes of whole samples; half a sample at the end is left out. @returns {Int16Array} */
export function samplesOf(bytes) {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const samples = new Int16Array(bytes.byteLength >> 1);
  for (let i = 0; i < samples.length; i += 1) samples[i] = view.getInt16(2 * i, true);
  return samples;
}

/** Turns bytes into samples; half a sample at the end of one piece waits for the next. */
export class SampleReader {
  #odd = new Uint8Array(0);

  /** @param {Uint8Array} bytes @returns {Int16Array} */
  feed(bytes) {
    const whole = new Uint8Array(this.#odd.length + bytes.length);
    whole.set(this.#odd);
    whole.set(bytes, this.#odd.length);
    this.#odd = whole.slice(whole.length & ~1);
    return samplesOf(whole);
  }
}
