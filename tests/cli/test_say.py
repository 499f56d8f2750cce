"""`vivavoce say`: what it writes, what it tells, and how it ends."""

import json
import os
import signal
import struct
import threading
import time
import wave

import av
import pytest

pytestmark = pytest.mark.models

PATIENCE_S = 10


def seconds(path):
    with wave.open(str(path)) as file:
        frames = file.getnframes()
        assert len(file.readframes(frames + 1)) == 2 * frames
        return frames / file.getframerate()


@pytest.mark.parametrize(
    "parts", [("One.", "Two"), ("It rains today.", "Take the umbrella"), ("Ready?", "Then go!", "Good luck")]
)
def test_piped_text_without_a_last_newline_is_spoken_to_its_end(say, tmp_path, parts):
    whole = tmp_path / "whole.wav"
    assert say("-o", str(whole), text=" ".join(parts)).returncode == 0
    alone = 0.0
    for number, part in enumerate(parts):
        path = tmp_path / f"{number}.wav"
        assert say("-o", str(path), text=part).returncode == 0
        alone += seconds(path)
    pauses = 0.3 * (len(parts) - 1)
    assert seconds(whole) == pytest.approx(alone + pauses, abs=0.25 * len(parts))
    assert seconds(whole) > alone


@pytest.mark.parametrize(
    "text, count",
    [
        ("Good evening! This is the museum. Which hall would you like?", 3),
        ("Wait here. I will be back in a minute. Do not move!", 3),
        ("The soup is hot. The bread is fresh.", 2),
    ],
)
def test_pipecat_2681_one_message_of_several_sentences_is_spoken_whole(say, tmp_path, text, count):
    for given in ({"text": text}, {"text": text + "\n"}):
        done = say("--json", "-o", str(tmp_path / "out.wav"), **given)
        told = json.loads(done.stdout)
        spoken = [word["text"] for word in told["words"]]
        assert spoken == [word.strip("!.,?") for word in text.split()]
        assert len(told["segments"]) <= count


@pytest.mark.parametrize("name", ["talk.wav", "talk.mp3", "talk.opus", "talk.ogg", "talk.flac", "talk.aac"])
def test_every_file_holds_all_of_the_speech(say, tmp_path, name):
    path = tmp_path / name
    done = say("--json", "-o", str(path), "The library closes at six.")
    assert done.returncode == 0, done.stderr
    told_s = json.loads(done.stdout)["audio_ms"] / 1000
    with av.open(str(path)) as container:
        frames = list(container.decode(audio=0))
    heard_s = sum(frame.samples / frame.sample_rate for frame in frames)
    assert heard_s == pytest.approx(told_s, abs=0.12)
    assert sorted(os.listdir(tmp_path)) == [name]


@pytest.mark.parametrize("rate_hz", [8_000, 16_000, 22_050, 44_100, 48_000])
def test_a_wav_has_the_rate_that_was_asked_for_and_its_exact_length(say, tmp_path, rate_hz):
    path = tmp_path / "out.wav"
    done = say("--json", "--rate", str(rate_hz), "-o", str(path), "Mind the step.")
    with wave.open(str(path)) as file:
        assert file.getframerate() == rate_hz
        assert file.getnframes() == round(json.loads(done.stdout)["audio_ms"] * rate_hz / 1000)
    assert path.stat().st_size == 44 + 2 * round(json.loads(done.stdout)["audio_ms"] * rate_hz / 1000)


def test_standard_output_gets_bare_samples_or_a_wav_whose_length_nobody_knew(say, tmp_path):
    bare = say("-o", "-", "Left, right, left.")
    wav = say("-o", "-", "--format", "wav", "Left, right, left.")
    assert (bare.returncode, wav.returncode) == (0, 0)
    assert len(bare.stdout) % 2 == 0
    assert wav.stdout[44:] == bare.stdout
    assert struct.unpack_from("<I", wav.stdout, 40) == (0xFFFFFFFF,)


def test_the_json_points_into_the_text(say, tmp_path):
    text = "Dr. Lee pays $12.50. That's 3 coffees!"
    told = json.loads(say("--json", "-o", str(tmp_path / "out.flac"), text).stdout)
    for segment in told["segments"]:
        assert text[segment["start"] : segment["end"]] == segment["text"]
        assert segment["audio_ms"] > 0
    for word in told["words"]:
        assert text[word["start"] : word["end"]] == word["text"]
        assert 0 <= word["start_ms"] <= word["end_ms"] <= told["audio_ms"] + 1
    assert told["ttfa_ms"] > 0
    assert (told["format"], told["engine"], told["voice"]) == ("flac", "hibari", "heart")


def test_options_change_what_is_said(say, tmp_path):
    lexicon = tmp_path / "words.toml"
    lexicon.write_text('[words]\nnginx = "engine ex"\n', encoding="utf-8")
    out = str(tmp_path / "out.wav")
    plain = json.loads(say("--json", "-o", out, "Restart nginx now.").stdout)
    known = json.loads(say("--json", "-o", out, "--lexicon", str(lexicon), "Restart nginx now.").stdout)
    fast = json.loads(say("--json", "-o", out, "--speed", "2", "Restart nginx now.").stdout)
    assert "engine ex" in known["segments"][0]["spoken"]
    assert "engine ex" not in plain["segments"][0]["spoken"]
    assert fast["audio_ms"] == pytest.approx(plain["audio_ms"] / 2, rel=0.25)


@pytest.mark.parametrize("text", ["", " \n\t ", "!?...", "🎉🎉", "---", "\u200b\u2060", "\x00\x07"])
def test_nothing_to_say_is_exit_code_3_and_leaves_no_file(say, one_line, tmp_path, text):
    done = say("-o", str(tmp_path / "out.wav"), text=text)
    assert done.returncode == 3
    one_line(done.stderr)
    assert os.listdir(tmp_path) == []
    assert say("-o", "-", text=text).stdout == b""


@pytest.mark.parametrize(
    "arguments, word",
    [
        (["--voice", "nobody-of-that-name"], "nobody-of-that-name"),
        (["--language", "xx-unknown"], "xx"),
        (["--voice", "alloy", "--language", "de"], "de"),
        (["--format", "wma"], "wma"),
        (["--lexicon", "/nowhere/words.toml"], "/nowhere/words.toml"),
    ],
)
def test_what_does_not_exist_is_wrong_usage(say, one_line, tmp_path, arguments, word):
    done = say("-o", str(tmp_path / "out.wav"), *arguments, "Hello.")
    assert done.returncode == 2
    assert word in one_line(done.stderr)
    assert os.listdir(tmp_path) == []


@pytest.mark.parametrize(
    "arguments",
    [
        ["--speed", "9"],
        ["--speed", "0"],
        ["--speed", "nan"],
        ["--rate", "4000"],
        ["--json", "-o", "-"],
        ["--no-such-option"],
        ["-o", "speech.docx"],
    ],
)
def test_wrong_usage_is_exit_code_2_without_a_traceback(say, arguments):
    done = say(*arguments, "Hello.")
    assert done.returncode == 2
    assert b"Traceback" not in done.stderr
    assert done.stdout == b""


@pytest.mark.parametrize("output", ["missing/folder/out.wav", "a-folder.wav", "file.txt/out.wav"])
def test_a_place_that_cannot_be_written_fails_by_its_name(say, one_line, tmp_path, output):
    (tmp_path / "a-folder.wav").mkdir()
    (tmp_path / "file.txt").touch()
    done = say("-o", str(tmp_path / output), "Hello.")
    assert done.returncode == 1
    assert str(tmp_path / output) in one_line(done.stderr)


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="needs a device that is always full")
def test_a_full_disk_fails_by_its_name(say, one_line):
    done = say("-o", "/dev/full", "Hello.")
    assert done.returncode == 1
    assert "/dev/full: No space left" in one_line(done.stderr)


def test_a_file_that_was_there_is_replaced_whole_and_keeps_its_mode_and_its_link(say, tmp_path):
    real, link = tmp_path / "real.wav", tmp_path / "link.wav"
    real.write_bytes(b"old")
    real.chmod(0o640)
    link.symlink_to(real)
    assert say("-o", str(link), "New.").returncode == 0
    assert link.is_symlink()
    assert seconds(real) > 0.1
    assert real.stat().st_mode & 0o777 == 0o640


def test_debug_shows_where(say, tmp_path):
    done = say("--debug", "-o", str(tmp_path / "x.wav"), "--voice", "nobody", "Hello.")
    assert done.returncode == 2
    assert b"Traceback" in done.stderr


def test_it_is_played_when_no_file_is_named(say, players):
    record = players.recorder("paplay")
    done = say("Dinner is ready.")
    file = say("-o", "-", "Dinner is ready.")
    assert (done.returncode, done.stdout, done.stderr) == (0, b"", b"")
    assert record.read_bytes().partition(b"]\n")[2] == file.stdout


def test_without_any_player_it_says_to_name_a_file(say, one_line, players):
    done = say("Dinner is ready.")
    assert done.returncode == 1
    assert "-o speech.wav" in one_line(done.stderr)


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_an_interruption_silences_the_player_before_a_slow_engine_has_ended(vivavoce, engines, tone, players, number):
    record = players.recorder("aplay")
    busy, may_end, silent_first = threading.Event(), threading.Event(), []

    class Slow(tone):
        def synthesize(self, phrase, voice, speed, cancelled):
            yield from super().synthesize(phrase, voice, speed, cancelled)
            if len(self.spoken) > 1:
                busy.set()
                may_end.wait(4 * PATIENCE_S)

    def interrupt():
        busy.wait(PATIENCE_S)
        while record.stat().st_size < 10_000:
            time.sleep(0.01)
        player = int(record.read_bytes()[1:].split()[0].rstrip(b"]"))
        os.kill(os.getpid(), number)
        silent_first.append(gone(player))
        may_end.set()

    engines(Slow("hibari", "heart"))
    interrupting = threading.Thread(target=interrupt)
    interrupting.start()
    done = vivavoce("say", "The first sentence is long enough. The second is never heard to its end.")
    interrupting.join()
    assert silent_first == [True]
    assert (done.returncode, done.stdout, done.stderr) == (130, b"", b"")


def gone(pid):
    """Whether that process ends while we wait."""
    for _ in range(PATIENCE_S * 20):
        try:
            os.kill(pid, 0)
        except ProcessLookupError:
            return True
        time.sleep(0.05)
    return False
