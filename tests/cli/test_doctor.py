"""`vivavoce doctor` tells what is here, what to do, and speeds that say what they were measured with."""

import json

import pytest

from vivavoce.cli.paces import TEXTS


@pytest.fixture(autouse=True)
def store(monkeypatch, tmp_path):
    monkeypatch.setenv("VIVAVOCE_HOME", str(tmp_path))


@pytest.fixture
def doctor(vivavoce, players):
    players.recorder("aplay")
    return lambda *arguments: vivavoce("doctor", *arguments)


def test_hexgrad_kokoro_291_speeds_are_told_with_threads_for_a_word_a_button_and_a_sentence(doctor, engines, tone):
    first, second = engines(tone("hibari", "heart"), tone("kokoro", "af_x"))
    told = json.loads(doctor("--json", "--runs", "4").stdout)
    assert [len(text.split()) for text in TEXTS] == [1, 2, 20]
    assert [(pace["engine"], pace["text"]) for pace in told["paces"]] == [
        (engine.name, text) for engine in (first, second) for text in TEXTS
    ]
    for pace in told["paces"]:
        assert pace["threads"] >= 1
        assert pace["runs"] == 4
        assert 0 < pace["ttfa_ms"]["p50"] <= pace["ttfa_ms"]["p95"] <= pace["ttfa_ms"]["max"]
        assert pace["cached_ttfa_ms"]["p95"] > 0
        assert pace["rtf"]["p50"] > 0
    assert told["hardware"]["cores"] >= 1


def test_hexgrad_kokoro_291_what_is_said_again_does_not_reach_the_engine(doctor, engines, tone):
    (engine,) = engines(tone("hibari", "heart"))
    doctor("--json", "--runs", "5")
    # Once to warm up, five times measured, once more to be remembered; five times from memory.
    assert len([text for text in engine.spoken if text.startswith("Submit")]) == 7


def test_mbailey_voicemode_262_the_tables_state_threads_and_runs(doctor, engines, tone):
    engines(tone("kokoro", "af_x"))
    shown = doctor("--runs", "3").stdout.decode()
    assert "3 runs, threads: 2" in shown
    assert "(20 words)" in shown
    assert "It can speak." in shown


def test_nothing_that_can_speak_is_exit_code_1_and_says_what_to_do(doctor, engines, tone):
    engines(tone("hibari", "heart", ready=False))
    done = doctor()
    assert done.returncode == 1
    shown = done.stdout.decode()
    assert "PROBLEM  engine hibari" in shown
    assert "engine hibari: Get it with: pull hibari" in shown
    assert json.loads(doctor("--json").stdout)["can_speak"] is False


def test_an_engine_that_is_missing_beside_one_that_speaks_is_no_failure(doctor, engines, tone):
    engines(tone("hibari", "heart"), tone("kokoro", "af_x", ready=False))
    done = doctor("--no-measure", "--json")
    checks = {check["name"]: check for check in json.loads(done.stdout)["checks"]}
    assert done.returncode == 0
    assert (checks["engine hibari"]["good"], checks["engine kokoro"]["good"]) == (True, None)
    assert checks["engine kokoro"]["advice"]
    assert checks["model kokoro"]["advice"].startswith("vivavoce models pull kokoro")
    assert checks["program espeak-ng"]["good"] is None
    assert "aplay" in checks["speakers"]["found"]


def test_an_engine_that_breaks_is_reported_and_the_others_are_measured(doctor, engines, tone):
    class Broken(tone):
        def synthesize(self, phrase, voice, speed, cancelled):
            raise ValueError("bad weights")

    engines(Broken("hibari", "heart"), tone("kokoro", "af_x"))
    done = doctor("--json", "--runs", "1")
    paces = json.loads(done.stdout)["paces"]
    assert "bad weights" in paces[0]["problem"]
    assert [pace["problem"] for pace in paces[1:]] == [None] * 3
    assert b"bad weights" in doctor("--runs", "1").stdout


def test_no_way_to_be_heard_is_told_with_a_cure(vivavoce, engines, tone, players):
    engines(tone("hibari", "heart"))
    done = vivavoce("doctor", "--no-measure", "--json")
    speakers = next(c for c in json.loads(done.stdout)["checks"] if c["name"] == "speakers")
    assert done.returncode == 0
    assert speakers["good"] is None
    assert "pip install 'vivavoce[play]'" in speakers["advice"]


@pytest.mark.models
def test_this_machine_is_measured_for_real(doctor):
    told = json.loads(doctor("--json", "--runs", "1").stdout)
    assert told["can_speak"]
    assert {pace["engine"] for pace in told["paces"]} >= {"hibari"}
