import pytest
from hypothesis import given
from hypothesis import strategies as st

from vivavoce.audio import Playback, Underruns


@pytest.mark.parametrize(
    ("arrivals", "wanted"),
    [
        ([], Underruns(0, 0.0, 0.0)),
        ([(500.0, 80.0)], Underruns(0, 0.0, 0.0)),
        ([(100.0, 80.0), (180.0, 80.0), (200.0, 80.0)], Underruns(0, 0.0, 0.0)),
        # A small first piece, then one large one a second later: good TTFA, and a hole.
        ([(40.0, 80.0), (1_120.0, 2_000.0)], Underruns(1, 1_000.0, 1_000.0)),
        ([(0.0, 100.0), (150.0, 100.0), (300.0, 100.0)], Underruns(2, 50.0, 100.0)),
        ([(0.0, 100.0), (90.0, 300.0), (410.0, 50.0), (450.0, 50.0)], Underruns(1, 10.0, 10.0)),
    ],
)
def test_vllm_omni_5152_holes_after_the_first_piece_are_seen(arrivals, wanted) -> None:
    assert Playback.replay(arrivals) == wanted


def test_a_prebuffer_bridges_what_it_holds() -> None:
    arrivals = [(0.0, 100.0), (50.0, 100.0), (240.0, 100.0)]
    assert Playback.replay(arrivals).count == 1
    assert Playback.replay(arrivals, prebuffer_ms=200.0).count == 0


def test_frames_deadline_and_buffer() -> None:
    playback = Playback(24_000)
    assert playback.buffered_ms(0.0) == 0.0
    assert playback.dry_ms is None
    playback.arrive_frames(100.0, 2_400)
    assert playback.started_ms == 100.0
    assert playback.dry_ms == 200.0
    assert playback.buffered_ms(150.0) == 50.0
    assert playback.buffered_ms(999.0) == 0.0
    assert playback.audio_ms == 100.0


def test_a_short_utterance_is_played_though_the_prebuffer_never_fills() -> None:
    playback = Playback(24_000, prebuffer_ms=500.0)
    playback.arrive(10.0, 100.0)
    assert playback.started_ms is None
    assert playback.buffered_ms(20.0) == 100.0
    playback.finish(30.0)
    assert playback.started_ms == 30.0
    assert playback.dry_ms == 130.0


def test_empty_pieces_do_not_start_the_listener() -> None:
    playback = Playback(24_000)
    playback.arrive(0.0, 0.0)
    assert playback.started_ms is None


def test_time_runs_forward() -> None:
    playback = Playback(24_000)
    playback.arrive(10.0, 5.0)
    with pytest.raises(ValueError, match="before"):
        playback.arrive(9.0, 5.0)
    with pytest.raises(ValueError, match="negative"):
        playback.arrive(11.0, -5.0)


@given(st.lists(st.tuples(st.integers(0, 400), st.integers(1, 400)), min_size=1, max_size=40))
def test_listening_takes_the_audio_plus_the_gaps(steps) -> None:
    at, arrivals = 0.0, []
    for wait, audio in steps:
        at += wait
        arrivals.append((at, float(audio)))
    playback = Playback(24_000)
    for arrival in arrivals:
        playback.arrive(*arrival)
    gaps = playback.underruns
    assert playback.dry_ms == pytest.approx(playback.started_ms + playback.audio_ms + gaps.total_ms)
    assert gaps.longest_ms <= gaps.total_ms
    assert gaps == Playback.replay(arrivals)
