"""Pictures with fewer bytes look the same, and however much was measured, a picture stays small."""

from __future__ import annotations

import io
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from PIL import Image

from benchbook.report.plots import machine as machine_plot
from benchbook.report.plots import style
from benchbook.report.plots.svg_minify import minified

if TYPE_CHECKING:
    from playwright.sync_api import Browser

LARGEST_BYTES = 120_000  # of a picture of six panels


def analysis(readings: int, starts: int) -> dict[str, Any]:
    """The course of a run: readings of each of five kinds, and starts, half of them disturbed."""
    dice = np.random.default_rng(3)
    names = ("anchor", "work 0", "work 1", "pair 0-1", "pair 1-0")
    return {
        "experiment": f"made-up-{readings}",
        "readings": [
            {"name": name, "value": 1e6 * value, "t_ns": k * 10**6, "state": 1 + k % 3}
            for name in names
            for k, value in enumerate(1 + dice.random(readings))
        ],
        "disturbance": {
            "start_ns": 0,
            "thresholds": {"run_delay_fraction": 0.05},
            "blocks": [
                {"state": "disturbed", "t_start_ns": k * 10**7, "t_end_ns": k * 10**7 + 4 * 10**6}
                for k in range(starts // 8)
            ],
            "starts": [
                {"t_start_ns": k * 10**6, "run_delay_fraction": float(value)}
                for k, value in enumerate(0.1 * dice.random(starts))
            ],
        },
    }


@pytest.mark.parametrize("many", [900, 30_000])
def test_a_picture_of_a_long_run_stays_small(many: int) -> None:
    drawn = machine_plot.over_time(analysis(many, many))
    assert drawn is not None
    assert f"anchor: {many} readings" in drawn.alt
    assert len(drawn.inline) < LARGEST_BYTES


def test_every_reading_of_a_short_run_is_drawn() -> None:
    drawn = machine_plot.over_time(analysis(30, 24))
    assert drawn is not None
    assert drawn.svg.count("h0") == 5 * 30 + 24


def test_a_smaller_picture_looks_the_same(
    browser: Browser, monkeypatch: pytest.MonkeyPatch
) -> None:
    def drawn() -> style.Picture:
        with style.drawing(2) as figure:
            axes = figure.add_axes((0.15, 0.2, 0.8, 0.7))
            axes.plot([1, 2, 3], [1, 30, 200], marker="s", linestyle="--", color=style.PALETTE[1])
            axes.scatter([1, 1.001, 2, 3], [9, 9, 9, 9], s=40, alpha=0.4, color=style.PALETTE[0])
            axes.scatter([1.5, 2.5], [50, 60], s=40, color=style.PALETTE[2], linewidths=0)
            axes.vlines([1.2, 1.4], 1, [20, 60], color=style.GREY)
            axes.annotate(" 1 <b> & 0.123456  ", (2, 2), rotation=30)
            style.logarithmic(axes, "y", 1, 200)
            return style.as_picture(figure, "same", "the same")

    def pixels(picture: style.Picture) -> np.ndarray:
        shown = browser.new_page(viewport={"width": 500, "height": 300}, device_scale_factor=2)
        shown.set_content(f"<body style='margin:0'>{picture.inline}")
        image = Image.open(io.BytesIO(shown.screenshot()))
        shown.close()
        return np.asarray(image.convert("RGB"), dtype=float)

    small = drawn()
    monkeypatch.setattr(style, "minified", str)
    large = drawn()
    assert len(small.svg) < 0.6 * len(large.svg)
    assert " 1 &lt;b&gt; &amp; 0.123456  " in small.svg
    smaller_pixels, larger_pixels = pixels(small), pixels(large)
    assert smaller_pixels.std() > 10
    # Edges may be a shade lighter or darker; nothing is somewhere else.
    apart = np.abs(smaller_pixels - larger_pixels)
    assert (apart > 40).mean() < 1e-4
    assert apart.mean() < 0.05


def test_groups_names_and_fonts_that_say_nothing_are_left_out() -> None:
    minified_svg = minified(
        '<svg width="9"><defs><path id="m1" d="M 0 0 \nL 1.123456 2\n"/></defs><g id=\'x\'>'
        '<g id="none"><use href="#m1" x="3.999999" y="1" style="fill: #fff"/>\n'
        '<use href="#m1" x="5" y="1" style="fill: #fff"/></g><g id="gone"/></g></svg>'
    )
    assert '<path id="a" d="M0 0L1.12 2"/>' in minified_svg
    assert (
        '<g style="fill: #fff"><use href="#a" x="4" y="1"/><use href="#a" x="5" y="1"/></g>'
        in minified_svg
    )
    assert "none" not in minified_svg
    assert "gone" not in minified_svg
