"""Whether what is shown can be told apart, in light and dark."""

from __future__ import annotations

import pytest

pytestmark = pytest.mark.browser

CONTRAST = """([selector, property]) => {
  const channels = (colour) => {
    const canvas = new OffscreenCanvas(1, 1).getContext("2d");
    canvas.fillStyle = colour;
    canvas.fillRect(0, 0, 1, 1);
    return [...canvas.getImageData(0, 0, 1, 1).data];
  };
  const light = ([r, g, b]) => [r, g, b]
    .map((value) => value / 255)
    .map((value) => value <= 0.04045 ? value / 12.92 : ((value + 0.055) / 1.055) ** 2.4)
    .reduce((sum, value, n) => sum + value * [0.2126, 0.7152, 0.0722][n], 0);
  const ground = (element) => {
    const colour = channels(getComputedStyle(element).backgroundColor);
    return colour[3] === 255 || !element.parentElement ? colour : ground(element.parentElement);
  };
  const behind = (element) => ground(property === "color" ? element : element.parentElement);
  return [...document.querySelectorAll(selector)].map((element) => {
    const [a, b] = [light(channels(getComputedStyle(element)[property])), light(behind(element))].sort((x, y) => y - x);
    return (a + 0.05) / (b + 0.05);
  });
}"""


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_text_can_be_read_in_light_and_dark(open_stage, studio, scheme: str) -> None:
    studio.script.error_after = 3
    studio.script.numbers += [{"predictors": [{"endpoint": "http://a", "state": "ejected"}, {"endpoint": "http://b"}]}]
    stage = open_stage(studio.url, color_scheme=scheme)
    stage.page.wait_for_selector("#health[data-health=well]")
    studio.script.word_ms = 400
    stage.say("some words to read")
    stage.page.wait_for_selector(".now.lit")
    selector = (
        ".health, h1, label, select:enabled, .hint, .button:enabled, #status, dt, dd, #error, .copy, pre, .doors *"
    )
    selector += (
        ", .past, .ahead, .switch, .figures *, .charts *, .counts *, #predictors *, #timeline .legend *, .option *"
    )
    stage.page.wait_for_timeout(200)
    stage.page.locator("#language").click()
    ratios = stage.page.evaluate(CONTRAST, [selector, "color"])
    assert len(ratios) > 25
    assert min(ratios) >= 4.5
    lit = stage.js(
        """() => { const s = getComputedStyle(document.querySelector(".now.lit")); return [s.color, s.backgroundColor]; }"""
    )
    assert lit == ["rgb(18, 32, 26)", "rgb(217, 247, 95)"]
    ground = stage.js("getComputedStyle(document.body).backgroundColor")
    assert ground == ("rgb(245, 247, 244)" if scheme == "light" else "rgb(15, 20, 18)")


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_where_controls_are_can_be_seen(open_stage, studio, scheme: str) -> None:
    stage = open_stage(studio.url, color_scheme=scheme)
    stage.page.wait_for_selector("#health[data-health=well]")
    edges = "#language, #voice, #format, #download, #speak"
    ratios = stage.page.evaluate(CONTRAST, [edges, "borderTopColor"])
    ratios += stage.page.evaluate(CONTRAST, ["#design, #live-typing", "backgroundColor"])
    assert len(ratios) == 7
    assert min(ratios) >= 3
