"""What comes over the wire is understood in whatever pieces it comes."""

from __future__ import annotations

import pytest

pytestmark = pytest.mark.browser


@pytest.fixture(scope="module")
def stage(workshop):
    return workshop


EVENTS = """async () => {
  const { EventParser } = await import("/sse.js");
  const text = [
    "event: speech.audio.delta\\ndata: {\\"a\\": 1}\\n\\n",
    ": a comment\\n\\n",
    "data: two\\ndata:lines\\n\\n",
    "data: carriage\\r\\n\\r\\n",
    "data: returns\\r\\r",
    "data: [DONE]\\n\\n",
  ].join("");
  const cut = (size) => {
    const parser = new EventParser();
    const events = [];
    for (let at = 0; at < text.length; at += size) events.push(...parser.feed(text.slice(at, at + size)));
    return JSON.stringify(events);
  };
  const whole = cut(text.length);
  return { whole, same: Array.from({ length: 40 }, (_, n) => cut(n + 1)).every((one) => one === whole) };
}"""

SAMPLES = """async () => {
  const { SampleReader, bytesOf } = await import("/pcm.js");
  const samples = Int16Array.from([0, 1, -1, 32767, -32768, 258, -300]);
  const bytes = new Uint8Array(samples.buffer);
  const cut = (size) => {
    const reader = new SampleReader();
    const out = [];
    for (let at = 0; at < bytes.length; at += size) out.push(...reader.feed(bytes.subarray(at, at + size)));
    return out.join();
  };
  const base64 = btoa(String.fromCharCode(...bytes));
  return { wanted: samples.join(), got: [1, 2, 3, 5, 14].map(cut), decoded: bytesOf(base64).join() === bytes.join() };
}"""


def test_events_are_the_same_however_the_stream_is_cut(stage) -> None:
    got = stage.js(EVENTS)
    assert got["whole"] == r'["{\"a\": 1}","two\nlines","carriage","returns","[DONE]"]'
    assert got["same"]


def test_samples_survive_a_cut_in_their_middle(stage) -> None:
    got = stage.js(SAMPLES)
    assert got["got"] == [got["wanted"]] * 5
    assert got["decoded"]


def test_offsets_count_code_points(stage) -> None:
    got = stage.js("""async () => {
      const { unitsOf } = await import("/words.js");
      const text = "a👋🏽b\\ud800c é𝒞";
      return [...Array([...text].length + 3).keys()].map((n) => {
        const units = unitsOf(text)(n);
        return units === [...text].slice(0, n).join("").length;
      });
    }""")
    assert len(got) == 12
    assert all(got)


def test_a_word_stays_lit_over_a_short_pause_and_not_over_a_long_one(stage) -> None:
    got = stage.js("""async () => {
      const { WordTrack } = await import("/words.js");
      const track = new WordTrack();
      track.add([{ word: "a", start_ms: 10, end_ms: 100 }, { word: "b", start_ms: 200, end_ms: 300 }]);
      track.add([{ word: "c", start_ms: 2000, end_ms: 2100 }]);
      return [0, 10, 99, 150, 210, 400, 1000, 2050].map((ms) => {
        const { last, lit } = track.at(ms);
        return last && (lit ? last.word : last.word + " past");
      });
    }""")
    assert got == [None, "a", "a", "a", "b", "b", "b past", "c"]


def test_languages_have_names_one_tag_each_and_those_that_speak_come_first(stage) -> None:
    got = stage.js("""async () => {
      const { groupsOf, labelOf, languagesOf, voicesOf } = await import("/voices.js");
      const voice = (name, language, more) => ({ name, language, engine: "e", ready: true, gender: "", ...more });
      const voices = voicesOf({ voices: [
        voice("far", "sv", { ready: false, hint: "pull it" }),
        voice("mandarin", "cmn", { description: "Chinese (Mandarin)" }),
        voice("z", "zh", { gender: "male" }),
        voice("other-z", "zh", { alias_of: "z" }),
        voice("scot", "en-GB-scotland", { description: "English (Scotland)" }),
        voice("brit", "en-GB"),
        voice("odd", "qqq", { description: "Oddish (Old)" }),
        voice("broken", "not a tag", {}),
      ] });
      return [
        languagesOf(voices).map(({ tag, name, ready }) => `${tag} ${name} ${ready}`),
        ["en", "zh"].map((tag) => groupsOf(voices, tag).map(({ label, voices }) => [label, voices.map(labelOf)])),
      ];
    }""")
    languages, (english, chinese) = got
    assert sorted(languages[:4]) == [
        "en English true",
        "not a tag not a tag true",
        "qqq Oddish (Old) true",
        "zh Chinese true",
    ]
    assert languages[4:] == ["sv Swedish false"]
    assert english == [["e · British English", ["English (Scotland) – scot", "brit"]]]
    assert chinese == [["e · Chinese", ["Chinese (Mandarin) – mandarin", "z (male)"]]]
