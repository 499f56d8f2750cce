"""`vivavoce voices` lists who can speak, and how to get the rest."""

import json

import pytest


@pytest.fixture
def four(engines, tone):
    engines(
        tone("hibari", "heart"),
        tone("kokoro", "af_nova", "bf_emma", ready=False),
        tone("espeak-ng", "de-voice", language="de"),
    )


def names(done):
    return [entry["name"] for entry in json.loads(done.stdout)]


@pytest.mark.parametrize(
    "arguments, expected",
    [
        ([], ["heart", "de-voice"]),
        (["--all"], ["heart", "af_nova", "bf_emma", "de-voice"]),
        (["--language", "de"], ["de-voice"]),
        (["--language", "en_GB"], ["heart"]),
        (["--language", "en", "--all"], ["heart", "af_nova", "bf_emma"]),
    ],
)
def test_which_voices(vivavoce, four, arguments, expected):
    done = vivavoce("voices", "--json", *arguments)
    assert done.returncode == 0
    assert names(done) == expected


def test_the_table_has_a_line_for_each_and_a_word_about_the_rest(vivavoce, four):
    done = vivavoce("voices")
    lines = done.stdout.decode().splitlines()
    assert [line.split()[0] for line in lines] == ["VOICE", "heart", "de-voice"]
    assert "alloy" in lines[1]
    assert b"2 more" in done.stderr
    shown = vivavoce("voices", "--all").stdout.decode()
    assert "Get it with: pull kokoro" in shown


def test_a_language_nobody_speaks_is_exit_code_1(vivavoce, four, one_line):
    done = vivavoce("voices", "--language", "ja")
    assert done.returncode == 1
    assert "ja" in one_line(done.stderr)
    done = vivavoce("voices", "--language", "ja", "--json")
    assert (done.returncode, json.loads(done.stdout)) == (1, [])


def test_no_voice_at_all_names_the_way_to_more(vivavoce, engines, tone, one_line):
    engines(tone("kokoro", "af_nova", ready=False))
    assert "voices --all" in one_line(vivavoce("voices").stderr)
