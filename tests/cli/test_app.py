"""The command line as a whole: help for everything, one clear line for every failure, exit codes by class."""

import asyncio
import subprocess
import sys

import pytest
import typer
from typer.testing import CliRunner

from vivavoce import __version__, errors
from vivavoce.cli.app import app
from vivavoce.cli.failures import ending, exit_code

COMMANDS = ["serve", "gateway", "engine", "adapter", "say", "voices", "models", "explain", "doctor", "bench", "version"]


def test_help_names_every_command_and_exit_code():
    shown = CliRunner().invoke(app, ["--help"])
    assert shown.exit_code == 0
    for word in [*COMMANDS, "130", "4 the voice", "3 nothing to say"]:
        assert word in shown.output, word


@pytest.mark.parametrize(
    "command",
    [*([name] for name in COMMANDS), *(["models", name] for name in ("list", "pull", "verify", "remove"))],
    ids=" ".join,
)
def test_every_command_has_help_with_an_example(command):
    shown = CliRunner().invoke(app, [*command, "--help"])
    assert shown.exit_code == 0
    assert f"vivavoce {' '.join(command)}" in shown.output.replace("Usage: ", "")
    assert command == ["models"] or "Example" in shown.output


def test_no_command_shows_the_help():
    assert "say" in CliRunner().invoke(app, []).output


@pytest.mark.parametrize("arguments", [["--version"], ["version"], ["version", "--json"]])
def test_version(arguments):
    shown = CliRunner().invoke(app, arguments)
    assert shown.exit_code == 0
    assert __version__ in shown.output


def test_a_mistyped_command_is_answered_with_the_right_one():
    shown = CliRunner().invoke(app, ["voces"])
    assert shown.exit_code == 2
    assert "voices" in shown.output


CODES = {
    errors.EmptyInput: 3,
    errors.VoiceNotInstalled: 4,
    errors.ModelUnavailable: 4,
    errors.ModelCorrupt: 4,
    errors.UnknownVoice: 2,
    errors.UnsupportedLanguage: 2,
    errors.UnsupportedFormat: 2,
    errors.OutOfRange: 2,
    errors.BadRequest: 2,
    errors.UnknownModel: 2,
    errors.ConfigError: 2,
    errors.PredictorFailed: 1,
    errors.Busy: 1,
    errors.VivavoceError: 1,
}


@pytest.mark.parametrize("kind", CODES, ids=lambda kind: kind.__name__)
def test_each_error_has_its_exit_code(kind):
    assert exit_code(kind("x")) == CODES[kind]


def test_every_error_of_the_tree_has_an_exit_code():
    kinds = [kind for kind in (getattr(errors, name) for name in errors.__all__) if isinstance(kind, type)]
    assert len(kinds) > 20
    for kind in kinds:
        assert exit_code(kind("x")) in (1, 2, 3, 4)


@pytest.mark.parametrize(
    "error, code, said",
    [
        (errors.UnknownVoice("No voice\nis called so."), 2, "vivavoce: No voice is called so.\n"),
        (FileNotFoundError(2, "No such file or directory", "/a/b.wav"), 1, "vivavoce: /a/b.wav: No such file or direc"),
        (OSError("odd"), 1, "vivavoce: odd\n"),
        (ModuleNotFoundError("gone", name="onnxruntime"), 4, "vivavoce: the package onnxruntime is not installed"),
        (ValueError("a bug"), 1, "vivavoce: internal error: ValueError: a bug"),
        (RecursionError("deep"), 1, "vivavoce: internal error: RecursionError (run"),
        (ExceptionGroup("g", [ExceptionGroup("h", [errors.EmptyInput("Nothing.")])]), 3, "vivavoce: Nothing.\n"),
        (KeyboardInterrupt(), 130, ""),
        (asyncio.CancelledError(), 130, ""),
        (BrokenPipeError(32, "Broken pipe"), 0, ""),
    ],
    ids=lambda value: type(value).__name__ if isinstance(value, BaseException) else None,
)
def test_every_failure_is_one_line_and_an_exit_code(monkeypatch, capsys, error, code, said):
    monkeypatch.setattr("vivavoce.cli.failures._leave_stdout", lambda: None)
    with pytest.raises(typer.Exit) as ended, ending():
        raise error
    assert ended.value.exit_code == code
    out, err = capsys.readouterr()
    assert out == ""
    assert err.startswith(said) if said else err == ""
    assert err.count("\n") == bool(said)


def test_debug_adds_the_traceback(capsys):
    with pytest.raises(typer.Exit), ending(debug=True):
        raise ValueError("where")
    assert "Traceback" in capsys.readouterr().err


def test_nothing_heavy_is_imported_before_a_command_needs_it():
    script = (
        "import sys, vivavoce.cli.app\n"
        "print(*sorted(m for m in ('numpy', 'onnxruntime', 'fastapi', 'uvicorn', 'av', 'httpx', 'pydantic', 'hibari')"
        " if m in sys.modules))"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == ""
