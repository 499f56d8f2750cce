"""Public bug reports, see the numbers in each name; the inputs are our own."""

import pytest

from vivavoce.text import Splitter


def texts(segments):
    return [segment.text.strip() for segment in segments]


@pytest.mark.parametrize(
    "text",
    [
        "Dr. Okafor called at 7:45 a.m., rather late, although the ward round was over by then.",
        "Mrs. Abena Poku, Prof. Lund and Sgt. Ruiz shared a table near St. Brigid's.",
        "Lt. Gov. Marsh thanked Rev. Dale for the letter.",
    ],
)
def test_kittentts_115_honorifics_end_nothing(split, text):
    assert texts(split(text)) == [text]


@pytest.mark.parametrize(
    "text",
    [
        "Pi is 3.14 and e is 2.718.",
        "The oven holds 212.5°F, and nobody asked why.",
        "Der Kurs stieg auf 1.234,56 Euro und fiel auf 998,7.",
        "The bill was $1,204.50 plus 7.5% tax at 12.30 sharp.",
        "Le prix passe de 1 234,50 à 999.90 francs.",
    ],
)
def test_pocket_tts_162_decimals_are_whole(split, text):
    assert texts(split(text)) == [text]


@pytest.mark.parametrize(
    "text",
    [
        "A small lemonade is $2.5 and a large one is $4 today.",
        "Version 2.0.1 of the driver costs €3.99, or £3.49.",
        "At 9.30 the 10.0.0.7 host, build v1.2.3, went down.",
        "It opened on Tuesday May 3, 2026, at ten.",
    ],
)
def test_stream2sentence_2_the_eager_first_segment_cuts_no_atom(split, text):
    segments = split(text, eager=True)
    atoms = (
        ["3, 2026"]
        if "3, 2026" in text
        else [word.strip(".,") for word in text.split() if any(character.isdigit() for character in word)]
    )
    assert all(any(atom in segment.text for segment in segments) for atom in atoms)


def test_the_eager_first_segment_is_a_clause(split):
    text = "When the rain stops, we will walk to the lake, swim, and come back. Then we eat."
    assert texts(split(text, eager=True)) == [
        "When the rain stops,",
        "we will walk to the lake, swim, and come back.",
        "Then we eat.",
    ]


@pytest.mark.parametrize(
    "text",
    [
        "Somewhere in the U.S",
        "Somewhere in the U.S.",
        "I live at 3.",
        "It weighs 2.71828",
        "Mr. S",
        "Right, Mr. Lindqvist let's ",
        "Use a soft cheese, e.g.",
        "She said, “Wait.",
        "The tag is <break time=",
        "Run this: ```py\nx = 1. Y = 2\n",
        "He came (we think. Nobody",
        "I paid $4.",
        "Read https://example.org/a.",
        "So...",
    ],
)
def test_pipecat_a_tail_that_may_go_on_waits(text):
    splitter = Splitter()
    assert [segment for character in text for segment in splitter.feed(character)] == []
    assert "".join(segment.text for segment in splitter.flush()) == text


@pytest.mark.parametrize(("head", "tail"), [("Wir sehen uns am 3", ". Mai 2025"), ("Am 12", ". Juni ist Markt")])
def test_pipecat_an_ordinal_waits_for_its_month(head, tail):
    splitter = Splitter("de")
    assert splitter.feed(head) + splitter.feed(tail) == []
    assert texts(splitter.flush()) == [head + tail]


@pytest.mark.parametrize("language", ["en", "en-GB", "de", "fr", "it", "ru", "xx", ""])
@pytest.mark.parametrize("text", ["Certainly. W", "Why not? S", "Fine! I", "It is done.\nB"])
def test_vllm_omni_5316_the_first_sentence_leaves_with_the_next_character(text, language):
    splitter = Splitter(language)
    assert splitter.feed(text[:-1]) == []
    assert [segment.text for segment in splitter.feed(text[-1])] == [text[:-1]]


@pytest.mark.parametrize(
    "language, text", [("ja", "雨です。傘"), ("zh", "下雨了！带"), ("hi", "बारिश है। छाता"), ("ur", "بارش ہے۔ چھتری")]
)
def test_the_first_sentence_leaves_in_every_script(language, text):
    splitter = Splitter(language)
    given = [segment for character in text for segment in splitter.feed(character)]
    assert len(given) == 1
    assert splitter.flush()[0].start == given[0].end


@pytest.mark.parametrize("text", ["Sure. ", "Let me check.", "Is that right? ", "Great! 🎉", "わかりました。"])
def test_vllm_omni_5316_a_pause_of_the_writer_releases_a_whole_sentence(text):
    splitter = Splitter()
    assert splitter.feed(text) == []
    assert [segment.text for segment in splitter.pause()] == [text]
    assert texts(splitter.feed(" More of it") + splitter.flush()) == ["More of it"]


@pytest.mark.parametrize("text", ["I met Mr. ", "in the U.S. ", "at 3.", "He said, “Hi. ", "<break time=", "and so"])
def test_a_pause_of_the_writer_releases_nothing_that_may_go_on(text):
    splitter = Splitter()
    assert splitter.feed(text) + splitter.pause() == []
    assert [segment.text for segment in splitter.flush()] == [text]


def test_a_pause_releases_a_short_sentence_that_waits_for_a_neighbour():
    splitter = Splitter()
    assert texts(splitter.feed("Hello there. Yes. And")) == ["Hello there."]
    assert texts(splitter.pause()) == ["Yes."]


def test_kokoro_166_long_japanese_is_spoken_in_pieces(split):
    text = (
        "朝早く起きて、窓を開けて、冷たい空気を吸い込み、庭の木を眺めながら、お茶を飲みました、" * 6
        + "そして出かけました。"
    )
    segments = split(text, "ja")
    assert len(text) > 250
    assert max(len(segment.text) for segment in segments) <= 140
    assert all(segment.text.endswith(("、", "。")) for segment in segments)


@pytest.mark.parametrize(
    ("text", "count"),
    [
        ("Open https://example.com/guide/v1.2/. Then ring me.", 2),
        ("The answer is at http://a.example.net/x?y=1.2&z=.5. Look there.", 2),
        ("See www.example.org/index.html? Nobody did.", 2),
        ("Mirror: ftp://files.example.org/pub/a.tar.gz and https://b.example.org/c.zip are equal.", 1),
    ],
)
def test_agents_js_1004_addresses_are_whole(split, text, count):
    assert len(split(text, join_short=False)) == count


@pytest.mark.parametrize(
    "atom",
    [
        "user@example.com",
        "path/to/file.py",
        "v1.2.3",
        "foo.bar@pipecat.ai",
        "192.168.0.1",
        "a.b.c:80",
        "README.MD",
        "x.Y.z",
    ],
)
@pytest.mark.parametrize("frame", ["Take {} with you. It helps.", "This is {}. It helps."])
def test_memsearch_412_addresses_files_and_versions_are_whole(split, atom, frame):
    first, second = split(frame.format(atom), join_short=False)
    assert atom in first.text
    assert second.text == "It helps."


def test_pipecat_2681_one_message_gives_every_sentence(split):
    text = "Hi there! I am your guide. What shall we see first?"
    assert texts(split(text, join_short=False)) == ["Hi there!", "I am your guide.", "What shall we see first?"]
    assert "".join(segment.text for segment in split(text)) == text


@pytest.mark.parametrize(
    ("text", "segments"),
    [
        ("Now? Not yet. Later then? Perhaps.", ["Now?", "Not yet. Later then? Perhaps."]),
        (
            "Yes. No. Maybe. I will tell you when I know. Bye.",
            ["Yes.", "No. Maybe. I will tell you when I know.", "Bye."],
        ),
        ("One.\n\nTwo.\n\nThree.", ["One.", "Two.", "Three."]),
        ("はい。そう。いいえ。", ["はい。", "そう。いいえ。"]),
    ],
)
def test_readest_2033_short_neighbours_are_one_segment(split, text, segments):
    assert texts(split(text)) == segments


def test_a_short_sentence_does_not_wait_for_a_long_neighbour(split):
    long = "The committee that was asked to look into the matter of the missing boats, which nobody had seen since the "
    long += "autumn storms began, met for the ninth time on a grey and windy morning in March."
    assert texts(split(f"First of all, good morning. Yes. {long}")) == ["First of all, good morning.", "Yes.", long]


def test_epub2tts_kokoro_5_a_long_sentence_is_cut_behind_clauses(split):
    text = "Everyone may borrow the boats, the oars, the nets and the lamps, whatever their age, their trade, their street "
    text += "or their family, whether they were born here or came by road, by rail or by sea, whether they fish for a living, "
    text += "for the table or for pleasure, and nobody shall be asked for a fee, a favour or a reason, by day or by night, in "
    text += "calm or in storm, as long as the boats come home"
    segments = split(text)
    assert 350 <= len(text) <= 450
    assert max(len(segment.text) for segment in segments) <= 280
    assert min(len(segment.text) for segment in segments) >= 60
    assert all(segment.text.rstrip().endswith(",") for segment in segments[:-1])
    assert segments[-1].text.endswith("come home")


@pytest.mark.parametrize(
    "text",
    [
        "Great! 🎉 🎉",
        "🎉 Great!",
        "Well done. 👍",
        "So... \n\n",
        "\n\nHello.\n\n",
        "Done! —",
        "*** \n\nHi.",
        "Yes. ...",
        "Ok. )",
    ],
)
def test_airi_454_no_segment_is_without_words(split, text):
    assert all(any(character.isalnum() for character in segment.text) for segment in split(text))


@pytest.mark.parametrize(
    "text", ["\n\n", "🎉", " ", "...", "?! ?!", "👍🏽 👩‍👩‍👧", "(((", "\u200b\u200b", "\n\n* * *\n\n"]
)
def test_airi_454_a_text_without_words_is_at_most_one_segment(split, text):
    assert [segment.text for segment in split(text)] == [text]


def test_airi_454_nothing_gives_nothing(split):
    assert split("") == []


FENCED = [
    "Use this: ```py\nx=1\n``` done. Bye now.",
    "Use this:\n```py\nx = 1. Y = 2\n\nprint(x)\n```\nThat is all. Bye now.",
    "~~~\nA. B? C!\n~~~\nThat is all.",
    "````md\n```\nA. B\n```\n````\nThat is all.",
]


@pytest.mark.parametrize("text", FENCED)
@pytest.mark.parametrize("join_short", [True, False])
def test_markdown_30_a_code_fence_is_never_in_pieces(split, text, join_short):
    start = min(place for mark in ("```", "~~~") if (place := text.find(mark)) >= 0)
    end = max(text.rfind("```"), text.rfind("~~~")) + 3
    assert any(s.start <= start and end <= s.end for s in split(text, join_short=join_short))


def test_markdown_30_an_open_fence_ends_with_its_text():
    splitter = Splitter()
    splitter.feed("Look: ```py\nx = 1. Y = 2\n")
    assert [segment.text for segment in splitter.flush()] == ["Look: ```py\nx = 1. Y = 2\n"]
    assert texts(splitter.feed("Next turn. It is read") + splitter.flush()) == ["Next turn.", "It is read"]


def test_offsets_go_on_counting_after_a_flush():
    splitter = Splitter()
    first = splitter.feed("One. Two.") + splitter.flush()
    second = splitter.feed("Three. Four.") + splitter.flush()
    assert [(s.start, s.end) for s in first + second] == [(0, 5), (5, 9), (9, 16), (16, 21)]
