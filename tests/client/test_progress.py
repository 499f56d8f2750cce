"""The account of what was heard, at any moment that a connection can break."""

from __future__ import annotations

from array import array
from itertools import groupby

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from vivavoce.client.events import Audio, Segment, SegmentEnded, Word, Words
from vivavoce.client.progress import HELD_BYTES, Progress

RATE_HZ = 8_000
TEXT = "Nine boats left the bay. Three came back! Who counted them, and when?"


def word(text, start, start_ms, end_ms):
    return Word(text, start, start + len(text), start_ms, end_ms, True)


def silence(ms):
    return bytes(round(ms * RATE_HZ / 1000) * 2)


def playing(text):
    progress = Progress(RATE_HZ)
    progress.write(text)
    progress.end()
    progress.begin()
    return progress


def feed(progress, said, ahead_ms):
    """Hand what a server says to the account; gives the events."""
    if isinstance(said, bytes):
        return progress.sound(said, ahead_ms)
    if said["type"] == "segment":
        return progress.segment(Segment(*(said[name] for name in ("index", "start", "end", "text", "spoken"))))
    if said["type"] == "words":
        names = ("word", "start", "end", "start_ms", "end_ms", "exact")
        return progress.words([Word(*(each[name] for name in names)) for each in said["words"]])
    return progress.segment_ended(SegmentEnded(said["index"], said["audio_ms"], said["synthesis_ms"]))


def speak_with_cuts(tools, text, cuts, *, frame_bytes, late_words, ahead_ms, anew):
    """The events of a text whose legs break before the frames of those indexes."""
    progress = Progress(RATE_HZ)
    progress.write(text)
    progress.end()
    events = []
    cuts = list(cuts)
    while not progress.said:
        rest = progress.rest
        progress.begin(rest.offset if anew else 0)
        script = tools.leg_of(rest.text, 0 if anew else rest.offset, frame_bytes=frame_bytes, late_words=late_words)
        cut = cuts.pop(0) if cuts else None
        for index, said in enumerate(script):
            if index == cut:
                break
            events += feed(progress, said, ahead_ms)
        else:
            events += progress.finish()
            break
        progress.cut()
    return progress, events


def told(events):
    return [word for event in events if isinstance(event, Words) for word in event.words]


def sound(events):
    return b"".join(event.pcm for event in events if isinstance(event, Audio))


texts = st.lists(
    st.tuples(st.text("abcdefgh", min_size=1, max_size=7), st.sampled_from([" ", ", ", ". ", "! ", "? ", " – "])),
    min_size=1,
    max_size=14,
).map(lambda pairs: "".join(word + mark for word, mark in pairs))


@settings(max_examples=150, deadline=None)
@given(
    text=texts,
    cuts=st.lists(st.integers(0, 60), max_size=5),
    frame_bytes=st.integers(10, 400).map(lambda half: half * 2),
    late_words=st.booleans(),
    anew=st.booleans(),
)
def test_wherever_it_breaks_every_word_is_told_and_sounds_once(tools, text, cuts, frame_bytes, late_words, anew):
    progress, events = speak_with_cuts(
        tools, text, cuts, frame_bytes=frame_bytes, late_words=late_words, ahead_ms=1e9, anew=anew
    )
    words = told(events)
    assert [(each.start, each.end) for each in words] == tools.spans(text)
    assert [each.text for each in words] == [text[start:end] for start, end in tools.spans(text)]
    assert tools.voiced(sound(events)) == tools.voiced(tools.whole_sound(text))
    assert sound(events) == b"".join(event.pcm for event in events if isinstance(event, Audio))
    assert progress.said and not progress._text and not progress._coming


@settings(max_examples=150, deadline=None)
@given(
    text=texts,
    cuts=st.lists(st.integers(0, 60), max_size=5),
    frame_bytes=st.integers(10, 400).map(lambda half: half * 2),
    late_words=st.booleans(),
)
def test_a_listener_about_to_run_dry_hears_a_cut_word_again_and_is_told_of_it_once(
    tools, text, cuts, frame_bytes, late_words
):
    _, events = speak_with_cuts(
        tools, text, cuts, frame_bytes=frame_bytes, late_words=late_words, ahead_ms=0, anew=False
    )
    assert [(each.start, each.end) for each in told(events)] == tools.spans(text)
    whole = array("h", tools.voiced(tools.whole_sound(text)))
    heard = array("h", tools.voiced(sound(events)))
    word_samples = len(tools.pcm_of("any")) // 2
    spoken = [(sample, len(list(run))) for sample, run in groupby(whole)]
    for (sample, length), (heard_sample, run) in zip(spoken, groupby(heard), strict=True):
        assert sample == heard_sample
        assert length <= len(list(run)) < length + (len(cuts) + 1) * word_samples  # only a cut word sounds again


@settings(max_examples=150, deadline=None)
@given(text=texts, cuts=st.lists(st.integers(0, 60), max_size=5), ahead_ms=st.sampled_from([0, 1e9]))
def test_spans_times_and_indexes_go_on_through_every_cut(tools, text, cuts, ahead_ms):
    progress, events = speak_with_cuts(
        tools, text, cuts, frame_bytes=600, late_words=False, ahead_ms=ahead_ms, anew=False
    )
    position_ms = 0.0
    for event in events:
        if isinstance(event, Audio):
            assert event.start_ms == pytest.approx(position_ms)
            assert len(event.pcm) % 2 == 0 and event.pcm
            position_ms += len(event.pcm) / 2 / RATE_HZ * 1000
    assert progress.audio_ms == pytest.approx(position_ms)
    starts = [each.start_ms for each in told(events)]
    assert starts == sorted(starts)
    assert [each.index for each in events if isinstance(each, Segment)] == list(
        range(sum(isinstance(each, Segment) for each in events))
    )
    for segment in (each for each in events if isinstance(each, Segment)):
        assert text[segment.start : segment.end] == segment.text
    assert {each.index for each in events if isinstance(each, SegmentEnded)} <= {
        each.index for each in events if isinstance(each, Segment)
    }


def test_sound_of_a_word_that_has_not_ended_is_held_back():
    progress = playing("alpha beta")
    progress.words([word("alpha", 0, 0, 400), word("beta", 6, 500, 900)])
    given_ = progress.sound(silence(700), ahead_ms=1_000)
    assert [len(event.pcm) for event in given_ if isinstance(event, Audio)] == [len(silence(500))]
    progress.cut()
    assert (progress.rest.offset, progress.rest.text) == (6, "beta")
    assert progress.audio_ms == 500


def test_a_listener_with_little_left_gets_what_there_is():
    progress = playing("alpha beta")
    progress.words([word("alpha", 0, 0, 400), word("beta", 6, 500, 900)])
    events = progress.sound(silence(700), ahead_ms=100)
    assert [each.text for each in told(events)] == ["alpha", "beta"]
    assert sound(events) == silence(700)
    progress.cut()
    assert progress.rest.text == "beta"
    progress.begin()
    again = progress.words([word("beta", 6, 0, 400)]) + progress.sound(silence(400), 1_000)
    assert told(again) == []
    assert sound(again) == silence(400)
    assert progress.said


@pytest.mark.parametrize(
    ("text", "heard", "rest"),
    [
        ("One two three.", "One two", "three."),
        ("Stop. Then go.", "Stop", "Then go."),
        ('He said "no". "Why?" she asked.', "He said", '"no". "Why?" she asked.'),
        ("It fell to -5 degrees.", "It fell to", "-5 degrees."),
        ("You owe $30 now.", "You owe", "$30 now."),
        ("Ready?! Set… go", "Ready", "Set… go"),
        ("你好。再见。", "你好", "再见。"),
        ("Only this!", "Only this", ""),
        ("(first) (second)", "(first", "(second)"),
    ],
)
def test_where_no_next_word_is_known_speech_goes_on_behind_the_last(text, heard, rest):
    progress = playing(text)
    progress.words([word(heard, 0, 0, 300)])
    progress.sound(silence(300), 1_000)
    progress.cut()
    assert progress.rest.text == rest
    assert progress.rest.text == text[progress.rest.offset :]
    before = progress.rest
    progress.begin()
    progress.cut()
    assert progress.rest == before


def test_a_segment_that_ended_is_not_said_again_even_where_word_times_run_over():
    progress = playing("Go on. 'Tis late.")
    progress.segment(Segment(0, 0, 7, "Go on. ", "Go on."))
    progress.words([word("Go", 0, 0, 200), word("on", 3, 200, 450)])
    progress.sound(silence(400), 1_000)
    events = progress.segment_ended(SegmentEnded(0, 400, 1))
    assert told(events) == [] or [each.text for each in told(events)] == ["on"]
    progress.cut()
    assert progress.rest.text == "'Tis late."


@pytest.mark.parametrize(
    ("rest_ms", "ahead_ms", "silence_ms"),
    [(0, 1_000, 0), (200, 1_000, 0), (200, 0, 200)],
)
def test_the_next_leg_is_told_where_it_stands_and_what_is_there_of_the_pause(rest_ms, ahead_ms, silence_ms):
    progress = playing("Go on. Now!")
    progress.segment(Segment(0, 0, 7, "Go on. ", "Go on."))
    progress.words([word("Go", 0, 0, 200), word("on", 3, 200, 400)])
    progress.sound(silence(460), 1_000)
    progress.segment_ended(SegmentEnded(0, 460, 1))
    progress.segment(Segment(1, 7, 11, "Now!", "Now!"))
    progress.sound(silence(rest_ms), ahead_ms)
    progress.cut()
    for _ in range(2):
        rest = progress.rest
        assert (rest.text, rest.before, rest.silence_ms) == ("Now!", "Go on. ", silence_ms)
        progress.begin()  # a leg that dies before its first sound changes nothing
        progress.cut()


def test_of_the_text_that_was_heard_the_end_is_kept():
    progress = Progress(RATE_HZ)
    assert progress.rest.before == ""
    text = "word " * 100
    progress.write(text)
    progress.words([word("word", 495, 0, 10)])
    progress.sound(silence(10), 1_000)
    progress.cut()
    assert progress.rest.before == text[-100:]


def test_a_segment_that_was_announced_and_never_sounded_is_not_announced_twice():
    progress = playing("Left. Right.")
    events = progress.segment(Segment(0, 0, 6, "Left. ", ""))
    progress.cut()
    progress.begin()
    events += progress.segment(Segment(0, 0, 6, "Left. ", "")) + progress.sound(silence(50), 0)
    assert [each.index for each in events if isinstance(each, Segment)] == [0]


def test_a_segment_without_sound_is_told_and_passed():
    progress = playing("--- Go.")
    events = progress.segment(Segment(0, 0, 4, "--- ", ""))
    events += progress.segment_ended(SegmentEnded(0, 0, 0))
    assert [type(each) for each in events] == [Segment, SegmentEnded]
    progress.cut()
    assert progress.rest.text == "Go."


def test_words_that_a_server_never_tells_hold_nothing_back_for_ever():
    progress = playing("x" * 100)
    given_bytes = 0
    for _ in range(100):
        given_bytes += len(sound(progress.sound(bytes(100_000), 1e9)))
        assert len(progress._held) <= HELD_BYTES + 100_000
    assert given_bytes > 7_000_000


def test_text_that_was_heard_is_not_kept():
    progress = Progress(RATE_HZ)
    for index in range(2_000):
        progress.begin()
        progress.write("word ")
        progress.words([word("word", index * 5, 0, 10)])
        progress.sound(silence(10), 1_000)
    assert len(progress._text) <= 1
    assert progress.unheard <= 1
    assert progress.written == 10_000


def test_text_that_is_still_being_written_when_it_breaks_is_all_there_afterwards():
    progress = Progress(RATE_HZ)
    progress.begin()
    progress.write("one ")
    progress.words([word("one", 0, 0, 100)])
    progress.sound(silence(100), 1_000)
    progress.write("two ")
    progress.cut()
    progress.write("three")
    assert progress.rest.text == "two three"
    assert not progress.said
    progress.end()
    assert progress.rest.offset == 4


@pytest.mark.parametrize(
    ("text", "opening"),
    [
        ('<prosody rate="80%">Slowly now. ', '<prosody rate="80%">'),
        ('<voice name="af_bella"><lang xml:lang="fr">Bonjour', '<voice name="af_bella"><lang xml:lang="fr">'),
        ('<voice name="a">Mine.</voice> Yours. ', ""),
        ('<voice name="a"><prosody rate="slow">Lost</voice> Found', ""),
        ("<VOICE name='b c'>Odd", "<VOICE name='b c'>"),
        ('Three < four, <break time="1s"/> <b>bold</b> <prosody rate="fast"/> ', ""),
        ("</voice>Closed before it was open ", ""),
    ],
)
def test_markup_that_is_open_where_it_breaks_is_opened_again(text, opening):
    for step in (1, 3, 1_000):
        progress = Progress(RATE_HZ)
        for at in range(0, len(text), step):
            progress.write(text[at : at + step])
        progress.write("and more")
        progress.begin()
        progress.words([word(text[-2:], len(text) - 2, 0, 100)])
        progress.sound(silence(100), 1_000)
        progress.cut()
        assert progress.rest.opening == opening
        assert progress.rest.text.lstrip() == "and more"
        assert len(opening) <= progress.rest.offset


def test_tags_that_were_opened_again_are_no_part_of_a_segment():
    text = '<voice name="a">One. Two.</voice>'
    progress = playing(text)
    progress.words([word("One", 16, 0, 100)])
    progress.sound(silence(100), 1_000)
    progress.cut()
    rest = progress.rest
    assert (rest.text, rest.opening) == ("Two.</voice>", '<voice name="a">')
    for anew in (False, True):
        start = rest.offset - len(rest.opening)
        progress.begin(start if anew else 0)
        said = Segment(0, 0 if anew else start, 20 + (0 if anew else start), rest.opening + "Two.", "Two.")
        progress.segment(said)
        (segment, _) = progress.sound(silence(50), 0)
        assert (segment.text, segment.start, segment.end) == ("Two.", 21, 25)
        assert text[segment.start : segment.end] == segment.text
        progress.cut()
