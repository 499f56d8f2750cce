"""Live numbers, small charts, and the timeline of the last utterance."""

from __future__ import annotations

import itertools
import math
from typing import Any

import pytest
from playwright.sync_api import expect

pytestmark = pytest.mark.browser


def numbers(at: int = 0, **changed: Any) -> dict[str, Any]:
    """What the server tells once a second."""
    history = [
        {
            "time_s": 1_000.4 + 1.02 * n,
            "ttfa_p50_ms": 80 + n,
            "ttfa_p95_ms": 160 + n,
            "rtf_p50": 0.01,
            "streams": n % 7,
            "queue": 0,
            "capacity": 8,
        }
        for n in range(60)
    ]
    predictors = [
        {"endpoint": "http://10.0.0.4:8080", "tier": "floor", "node": "ip-10-0-0-4", "model": "omnivoice"}
        | {"state": "ready", "slots": 8, "outstanding": 3, "requests": 1234, "failures": 0},
        {"endpoint": "http://10.0.0.9:8080", "tier": "burst", "node": "", "model": "omnivoice"}
        | {"state": "ejected", "slots": 8, "outstanding": 0, "requests": 10, "failures": 4},
    ]
    told = {
        "window_s": 300,
        "ttfa_ms": {"p50": 98.2 + at, "p95": 187.4},
        "rtf": {"p50": 0.0125, "p95": 0.02},
        "queue_wait_ms": {"p50": 0, "p95": 1240.0},
        "streams": 5,
        "queue": 2,
        "capacity": 8,
        "outcomes": {"ok": 10},
        "outcomes_total": {"ok": 1822, "cancelled": 3, "client_gone": 4, "shed": 5, "error": 1},
        "busy_total": 5,
        "underruns_total": 2,
        "predictors": predictors,
        "history": history,
    }
    return told | changed


def lines(stage, chart: str) -> list[str]:
    return stage.js(f"() => [...document.querySelectorAll('#chart-{chart} .line')].map((one) => one.getAttribute('d'))")


def test_the_numbers_and_their_charts_are_drawn(stage, studio) -> None:
    page = stage.page
    studio.script.numbers += [numbers()]
    expect(page.locator("#now-ttfa")).to_have_text("98 ms")
    shown = {
        "more-ttfa": "95 % within 187 ms",
        "now-rtf": "0.01",
        "more-rtf": "80× real time",
        "now-streams": "5",
        "more-streams": "of 8, 3 free",
        "now-queue": "2",
        "more-queue": "95 % waited 1.2 s",
        "count-ok": "1,822",
        "count-stopped": "7",
        "count-busy": "5",
        "count-failed": "1",
        "count-underruns": "2",
    }
    for id, text in shown.items():
        expect(page.locator(f"#{id}")).to_have_text(text)
    for chart, count in {"ttfa": 2, "rtf": 1, "streams": 2, "queue": 1}.items():
        drawn = lines(stage, chart)
        assert len(drawn) == count
        assert all(line.count(",") == 62 and line.count("M") == 1 for line in drawn), chart
    box = page.locator("#chart-ttfa").bounding_box()
    assert box and box["width"] > 100 and box["height"] > 30
    rows = page.locator("#predictors tbody tr")
    expect(rows).to_have_text(
        ["ip-10-0-0-4omnivoice · floorready3 / 81,2340", "10.0.0.9:8080omnivoice · burstejected0 / 8104"]
    )


def test_a_server_that_tells_no_history_gets_one_here(stage, studio) -> None:
    told = [numbers(at=n) for n in range(5)]
    for one in told:
        del one["history"]
    studio.script.numbers += told
    stage.until("__vivavoce.stats.history.length === 5")
    line = lines(stage, "ttfa")[0]
    points = [float(point.split(",")[0]) for point in line.removeprefix("M").split("L")]
    assert len(points) == 5
    assert points[-1] == 200
    assert all(math.isclose(b - a, 200 / 59, abs_tol=0.02) for a, b in itertools.pairwise(points))


def test_the_whole_history_comes_once_and_then_what_is_new(stage, studio) -> None:
    """Nothing new is no new second: the chart goes on where the server's own clock does."""
    whole = numbers()
    last = whole["history"][-1]
    added = [numbers(history=[{**last, "time_s": last["time_s"] + n, "streams": 100 + n}]) for n in (1, 2, 3)]
    idle = numbers(history=[], streams=6)
    studio.script.numbers += [whole, added[0], idle, added[1], idle, added[2]]
    stage.until("__vivavoce.stats.history.length === 65")
    streams = stage.js("__vivavoce.stats.history.map((second) => second.streams)")
    assert streams[-4:] == [59 % 7, 101, 102, 103]
    assert lines(stage, "streams")[0].count("M") == 1


def test_a_server_that_has_just_begun_has_no_history_yet(stage, studio) -> None:
    studio.script.numbers += [numbers(history=[])]
    expect(stage.page.locator("#now-streams")).to_have_text("5")
    assert stage.js("__vivavoce.stats.history") == []
    studio.script.numbers += [numbers()]
    stage.until("__vivavoce.stats.history.length === 62")


def test_what_was_not_seen_is_a_gap_and_no_zero(stage, studio) -> None:
    studio.script.numbers += [
        numbers(ttfa_ms={"p50": None, "p95": None}, rtf={"p50": None}, queue_wait_ms={}, predictors=[])
    ]
    expect(stage.page.locator("#more-ttfa")).to_have_text("95 % within –")
    expect(stage.page.locator("#now-rtf")).to_have_text("–")
    expect(stage.page.locator("#more-rtf")).to_have_text("no speech lately")
    expect(stage.page.locator("#predictors")).to_be_hidden()
    got = stage.js("""async () => {
      const { Chart } = await import("/chart.js");
      const svg = document.createElementNS("http://www.w3.org/2000/svg", "svg");
      new Chart(svg, { classes: ["first"], atLeast: 1 }).draw([[1, null, 2, 2, null]], 5);
      return svg.querySelector(".line").getAttribute("d");
    }""")
    assert got.count("M") == 2


def test_the_time_when_nobody_looked_is_filled_in_or_left_open(stage, studio) -> None:
    """The server tells its last minute at first; what lies between two of them that are far apart is a hole."""
    early, late = numbers(), numbers()
    for one in late["history"]:
        one["time_s"] += 90
    studio.script.numbers += [early]
    stage.until("__vivavoce.stats.history.length === 62")
    studio.script.numbers += [late]
    stage.until("__vivavoce.stats.history.length === 152")
    assert lines(stage, "streams")[0].count("M") == 2
    for one in late["history"]:
        one["time_s"] += 30
    studio.script.numbers += [late]
    stage.until("__vivavoce.stats.history.length === 180")


def test_numbers_that_nobody_looks_at_are_not_asked_for(stage, studio) -> None:
    hide = """(hidden) => {
      Object.defineProperty(document, "hidden", { configurable: true, get: () => hidden });
      document.dispatchEvent(new Event("visibilitychange"));
    }"""
    studio.script.numbers += [numbers()]
    expect(stage.page.locator("#now-streams")).to_have_text("5")
    (listener,) = studio.listening
    stage.page.evaluate(hide, True)
    for _ in range(100):
        if listener not in studio.listening:
            break
        stage.page.wait_for_timeout(20)
    assert studio.listening == set()
    asked = studio.numbers_asked
    stage.page.evaluate(hide, False)
    studio.script.numbers += [numbers(streams=6)]
    expect(stage.page.locator("#now-streams")).to_have_text("6")
    assert studio.numbers_asked == asked + 1


def test_a_stream_that_breaks_is_taken_up_again(open_stage, studio) -> None:
    stage = open_stage("about:blank", expect_errors=True)
    stage.page.route("**/stats/stream", lambda route: route.abort(), times=1)
    studio.script.numbers += [numbers()]
    stage.page.goto(studio.url)
    expect(stage.page.locator("#live-state")).to_have_text(
        "Connection lost. The numbers are from before; trying again…"
    )
    expect(stage.page.locator("#now-streams")).to_have_text("5")
    expect(stage.page.locator("#live-state")).to_have_text("")


def test_a_server_that_goes_and_comes_back_is_seen_as_such(open_stage, studio) -> None:
    stage = open_stage("about:blank", expect_errors=True)
    for doors in ("**/v1/**", "**/stats/stream"):
        stage.page.route(doors, lambda route: route.abort())
    stage.page.goto(studio.url)
    expect(stage.page.locator("#health")).to_have_text("No connection")
    expect(stage.page.get_by_role("alert")).to_have_text("The server cannot be reached. Is it still running?")
    stage.page.unroute_all()
    studio.script.numbers += [numbers()]
    expect(stage.page.locator("#health")).to_have_text("4 voices ready")
    expect(stage.page.get_by_role("alert")).to_be_hidden()
    expect(stage.page.get_by_role("combobox", name="Language")).to_have_value("English")


@pytest.mark.parametrize(
    ("rtf", "told"), [(0.68, "1.5× real time"), (1.6, "0.6× real time"), (0.0008, "1,250× real time")]
)
def test_a_factor_is_told_as_a_speed_too(stage, studio, rtf: float, told: str) -> None:
    studio.script.numbers += [numbers(rtf={"p50": rtf, "p95": rtf})]
    expect(stage.page.locator("#more-rtf")).to_have_text(told)


def test_a_server_that_keeps_its_numbers_to_itself_is_asked_once(open_stage, studio) -> None:
    studio.script.numbers = None
    stage = open_stage(studio.url, expect_errors=True)
    expect(stage.page.locator("#live-state")).to_have_text("This server does not show its numbers here.")
    expect(stage.page.locator(".charts")).to_be_hidden()
    stage.say("it speaks all the same")
    stage.expect_status("Finished.")
    assert studio.numbers_asked == 1


def test_numbers_that_change_are_not_read_out(stage) -> None:
    loud = stage.js(
        "() => [...document.querySelectorAll('#live [aria-live], #live [role=status], #live [role=alert]')].map((e) => e.id)"
    )
    assert loud == ["live-state"]


def test_the_timeline_shows_where_the_time_went(stage, studio) -> None:
    page = stage.page
    expect(page.locator("#timeline .none")).to_be_visible()
    studio.script.origin = {"tier": "burst", "node": "ip-10-0-0-9", "model": "omnivoice"}
    studio.script.word_ms = 100
    stage.say("A first sentence. Then a second one! And a third?")
    stage.expect_status("Finished.")
    expect(page.locator("#timeline .none")).to_be_hidden()
    expect(page.locator("#timeline .summary")).to_contain_text("Spoken to its end, first sound after")
    legend = page.locator("#timeline .legend li").all_inner_texts()
    assert legend[:4] == ["Admission 2 ms", "First segment 2 ms", "Slot 5 ms", "Synthesis 22 ms"]
    assert [item.split()[0] for item in legend[4:]] == ["Network", "Loudspeaker"]
    assert page.locator("#timeline .steps rect").count() == 6
    rows = page.locator("#timeline tbody tr")
    expect(rows).to_have_count(3)
    first = rows.first.inner_text().split("\t")
    assert first[0].split("\n")[:2] == ["A first sentence.", "burst · ip-10-0-0-9 · omnivoice"]
    assert [cell.strip() for cell in first[2:]] == ["3 ms", "6 ms", "300 ms", "0.02"]
    bars = stage.js("""() => [...document.querySelectorAll("#timeline tbody .sounded")]
      .map((bar) => [Number(bar.getAttribute("x")), Number(bar.getAttribute("width"))])""")
    assert len(bars) == 3
    for (start, width), (following, _) in itertools.pairwise(bars):
        assert following == pytest.approx(start + width, abs=0.5)
    assert bars[-1][0] + bars[-1][1] == pytest.approx(1000, abs=1)
    assert page.locator("#timeline tbody .made").count() == 3
    stage.say("Another.")
    stage.expect_status("Finished.")
    expect(rows).to_have_count(1)
