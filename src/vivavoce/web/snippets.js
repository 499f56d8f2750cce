/** The same request, as a programmer would send it. No DOM. */

/** @returns {{python: string, curl: string}} */
export function snippets(baseUrl, { voice = "alloy", instruct = "" } = {}, keyed = false) {
  const base = String(new URL("v1", baseUrl));
  const key = keyed ? 'os.environ["VIVAVOCE_KEY"]' : '"none"';
  const python = [
    ...(keyed ? ["import os"] : []),
    "from openai import OpenAI",
    "",
    "client = OpenAI(",
    `    base_url="${base}",`,
    `    api_key=${key},`,
    ")",
    "speech = client.audio.speech.create(",
    `    model="tts-1", voice="${voice}",`,
    '    input="Hello there.",',
    ...(instruct ? [`    instructions="${instruct}",`] : []),
    ")",
    'speech.write_to_file("hello.mp3")',
  ];
  const curl = [
    `curl ${base}/audio/speech \\`,
    ...(keyed ? ['  -H "Authorization: Bearer $VIVAVOCE_KEY" \\'] : []),
    "  -H 'Content-Type: application/json' \\",
    `  -d '{"voice": "${voice}", ${instruct ? `"instructions": "${instruct}", ` : ""}"input": "Hello there."}' \\`,
    "  -o hello.mp3",
  ];
  return { python: python.join("\n"), curl: curl.join("\n") };
}
