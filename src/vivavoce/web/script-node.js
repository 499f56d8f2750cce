/**
 * The audio thread's player on the page's own thread, where a browser has no AudioWorklet: plain HTTP to another
 * machine, such as a phone in the same house. Same code, same messages. No DOM.
 */

/** Frames between two calls: 43 ms at 48 kHz, enough to ride out a busy page. */
const FRAMES = 2048;

/**
 * @param {AudioContext} context
 * @param {string | URL} workletUrl
 * @param {object} processorOptions as for AudioWorkletNode.
 * @returns {Promise<AudioNode & {port: MessagePort}>}
 */
export async function scriptNode(context, workletUrl, processorOptions) {
  const { port1, port2 } = new MessageChannel();
  const Processor = await processorClass(context, workletUrl, port2);
  const processor = new Processor({ processorOptions });
  const node = context.createScriptProcessor(FRAMES, 1, 1);
  node.onaudioprocess = ({ outputBuffer, playbackTime }) => {
    globalThis.currentTime = playbackTime;
    processor.process([], [[outputBuffer.getChannelData(0)]]);
  };
  node.port = port1;
  return node;
}

/** Loads the worklet's module with the names it finds in an audio thread. */
async function processorClass(context, workletUrl, port) {
  globalThis.sampleRate = context.sampleRate;
  globalThis.currentTime = 0;
  globalThis.AudioWorkletProcessor = class {
    port = port;
  };
  globalThis.registerProcessor = () => {};
  return (await import(workletUrl)).StreamProcessor;
}
