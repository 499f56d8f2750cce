from pathlib import Path

import numpy as np
import pytest

from vivavoce.engines.graph import cut, with_output
from vivavoce.engines.session import open_session
from vivavoce.errors import ModelCorrupt

FEATURES, SPECTRA, DURATIONS = "/Concat_43_output_0", "/head/Add_output_0", "/Clip_output_0"


@pytest.fixture(scope="module")
def model() -> bytes:
    hibari = pytest.importorskip("hibari")
    return (Path(hibari.__file__).parent / "assets" / "hibari.onnx").read_bytes()


@pytest.fixture
def feeds() -> dict[str, np.ndarray]:
    ids = np.array([[0, 50, 83, 54, 156, 31, 16, 81, 86, 123, 4, 0]], np.int64)
    return {"ids": ids, "speed": np.ones(1, np.float32)}


def test_two_halves_give_what_the_whole_gives(model: bytes, feeds: dict[str, np.ndarray]) -> None:
    whole = open_session(cut(model, [], [SPECTRA, DURATIONS]), 1, "whole").run(None, feeds)
    front = open_session(cut(model, [], [FEATURES, DURATIONS]), 1, "front")
    back = open_session(cut(model, [(FEATURES, 3)], [SPECTRA]), 1, "back")
    features, durations = front.run(None, feeds)
    np.testing.assert_array_equal(durations, whole[1])
    np.testing.assert_array_equal(back.run(None, {FEATURES: features})[0], whole[0])


def test_each_half_holds_only_its_own_weights(model: bytes) -> None:
    front, back = cut(model, [], [FEATURES]), cut(model, [(FEATURES, 3)], [SPECTRA])
    assert len(front) + len(back) < 1.02 * len(model)
    assert [i.name for i in open_session(back, 1, "back").get_inputs()] == [FEATURES]


def test_an_output_is_added_without_losing_any(model: bytes) -> None:
    before = [o.name for o in open_session(model, 1, "m").get_outputs()]
    after = [o.name for o in open_session(with_output(model, DURATIONS), 1, "m").get_outputs()]
    assert after == [*before, DURATIONS]


@pytest.mark.parametrize("damage", [b"", b"\xff" * 200, b"not a model at all, just words"])
def test_what_is_no_model_is_corrupt(damage: bytes) -> None:
    with pytest.raises(ModelCorrupt):
        cut(damage, [], [SPECTRA])


@pytest.mark.parametrize("share", [0.2, 0.5, 0.99])
def test_a_file_cut_short_is_corrupt(model: bytes, share: float) -> None:
    with pytest.raises(ModelCorrupt):
        cut(model[: int(len(model) * share)], [], [SPECTRA])


def test_an_output_that_is_not_there_is_named(model: bytes) -> None:
    with pytest.raises(ModelCorrupt, match="no-such-tensor"):
        cut(model, [], ["no-such-tensor"])


def test_a_session_of_garbage_names_the_model() -> None:
    with pytest.raises(ModelCorrupt, match=r"models pull --force kokoro"):
        open_session(b"garbage", 1, "kokoro")
