"""`vivavoce explain` shows what would be said, and why."""

import json
import os
import subprocess
import sys

import pytest


@pytest.fixture
def explain(vivavoce):
    return lambda *arguments, text="": vivavoce("explain", *arguments, text=text)


@pytest.mark.parametrize(
    "text",
    [
        "The ticket costs $4.50 today.",
        "Meet me at 7:30. Bring **both** keys!",
        "Ask Dr. Kim [pause:1s] about room B.12",
    ],
)
def test_places_point_into_the_text(explain, text):
    told = json.loads(explain("--json", text).stdout)
    assert "".join(segment["text"] for segment in told["segments"]) == text
    for segment in told["segments"]:
        assert text[segment["start"] : segment["end"]] == segment["text"]
        for part in segment["parts"]:
            assert text[part["start"] : part["end"]] == part["source"]
            assert part["rule"]


@pytest.mark.parametrize(
    "text",
    ["Room 12B, 3rd floor. [pause:400ms] Call +44 20 7946 0958!", "**Bold** — and *so* on. 🎈 Done", "«Où?» fin"],
)
def test_the_terminal_and_the_server_explain_alike(explain, text):
    from fastapi.testclient import TestClient

    from vivavoce.api.app import create_app
    from vivavoce.config import Settings

    answer = TestClient(create_app(Settings.load())).post("/v1/text/explain", json={"input": text})
    assert json.loads(explain("--json", text).stdout) == answer.json()


def test_the_table_shows_the_words_and_the_rule(explain):
    shown = explain("The ticket costs $4.50 today.").stdout.decode().splitlines()
    assert "dollars" in shown[0]
    money = next(line for line in shown if "$4.50" in line)
    assert "dollars" in money
    assert "currency" in money
    assert any(line.split("  ")[0] == "0-16" and "The ticket costs" in line for line in shown)


def test_standard_input_is_read_whole(explain):
    piped = json.loads(explain("--json", text="One line.\nAnd another").stdout)
    assert [segment["text"].strip() for segment in piped["segments"]] == ["One line.", "And another"]
    assert json.loads(explain("--json", "-", text="One line.\nAnd another").stdout) == piped


def test_the_lexicon_has_the_last_word(explain, tmp_path):
    words = tmp_path / "words.toml"
    words.write_text('[words]\nkubectl = "cube control"\n', encoding="utf-8")
    assert "cube control" in explain("--lexicon", str(words), "Run kubectl now.").stdout.decode()


def test_the_language_changes_the_words(explain):
    english, german = (json.loads(explain("--json", "-l", tag, "21 Bäume").stdout) for tag in ("en", "de"))
    assert english["segments"][0]["spoken"] != german["segments"][0]["spoken"]


@pytest.mark.parametrize("broken", ["not = [toml", '[words]\n"" = "x"'])
def test_a_lexicon_that_cannot_be_read_is_exit_code_2(explain, tmp_path, one_line, broken):
    words = tmp_path / "words.toml"
    words.write_text(broken, encoding="utf-8")
    done = explain("--lexicon", str(words), "Hello.")
    assert done.returncode == 2
    one_line(done.stderr)


@pytest.mark.parametrize("text", ["", "\x00\x1b[2J", "\udcff odd", "\u202eabc"])
def test_odd_characters_never_reach_the_terminal(explain, text):
    done = explain("--", text) if text else explain()
    assert done.returncode == 0, done.stderr
    assert b"\x1b" not in done.stdout
    assert b"\x00" not in done.stdout


def test_an_argument_that_the_locale_could_not_read_is_read_as_utf8():
    environment = {**os.environ, "LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"}
    command = [sys.executable, "-m", "vivavoce", "explain", "--json", "Straße"]
    shown = subprocess.run(command, capture_output=True, env=environment, check=True)
    assert json.loads(shown.stdout)["segments"][0]["text"] == "Straße"


def test_a_closed_standard_output_is_no_internal_error():
    command = f'exec "{sys.executable}" -m vivavoce explain "Five." >&-'
    shown = subprocess.run(["/bin/sh", "-c", command], capture_output=True, text=True, check=False)
    assert (shown.returncode, shown.stderr) == (0, "")
