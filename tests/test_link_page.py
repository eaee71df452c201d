"""The section on devices and their link, of made-up transfers."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from made_up_transfers import linked

from benchbook.host.pcie import link_bytes_per_s
from benchbook.report.paper_page import PaperPage
from benchbook.report.plots.sweep import Curve, curves
from benchbook.report.sections import answer as answer_section
from benchbook.report.sections import device_link, paper_panels

GIB_PER_S = 2**30
LINK = (16.0, 16)


def point(
    method: str, rate: float, factors: dict[str, Any] | None = None, **observed: Any
) -> dict[str, Any]:
    """64 MiB at a rate in GiB/s."""
    size = 1 << 26
    setting = {"backend": "opencl", "memory": "pinned", "bytes": size, "method": method}
    setting |= {
        "transfer_threads": 1,
        "submission": "blocking",
        "data": "random",
        **(factors or {}),
    }
    ways = {"to-device": (1, 0), "from-device": (0, 1), "both": (0.5, 0.5)}[method]
    return {
        "experiment": "moves",
        "point": ",".join(["v", *(f"{key}={value}" for key, value in setting.items())]),
        "variant": "v",
        "twin": "",
        "state": "ok",
        "reason": "",
        "factors": setting,
        "bytes_per_call": setting["bytes"],
        "rate_bytes_per_s": rate * GIB_PER_S,
        "rate_low_bytes_per_s": 0.99 * rate * GIB_PER_S,
        "rate_high_bytes_per_s": 1.01 * rate * GIB_PER_S,
        "observations": {
            "bytes_to_device": int(ways[0] * setting["bytes"]),
            "bytes_from_device": int(ways[1] * setting["bytes"]),
            "orders_done_fraction": 1,
            "device_is_host_memory": 0,
            "device_name": "Made Up 9000",
            "through_cuda": 0,
            "device_time_ns": 9e6,
            "device_wall_ns": 10e6,
            **observed,
        },
    }


def recorded_run(*points: dict[str, Any], plain: tuple[dict[str, Any], ...] = ()) -> dict[str, Any]:
    about = {"name": "R2", "host": "there", "model": "Other CPU", "cores": 16, "preset": "quick"}
    about |= {"date": "2026-01-02", "blocks": 9, "commit": "0" * 40, "changed": False}
    return about | {"experiment": "moves", "points": list(points), "plain": list(plain)}


def page(
    *points: dict[str, Any], recorded: tuple[dict[str, Any], ...] = ()
) -> tuple[PaperPage, Any]:
    experiment = {"sweep_unit": "GiB/s", "recorded": list(recorded), "names": {}}
    content = {
        "paper": "made-up",
        "host": "here",
        "preset": "quick",
        "figure": "",
        "findings": [],
        "points": list(points),
        "experiments": {"moves": experiment},
    }
    return PaperPage(content), experiment


def test_what_the_link_carries_and_how_near_transfers_come() -> None:
    observations = linked((2.5, 16), LINK, LINK)
    carried = link_bytes_per_s(*LINK) / GIB_PER_S
    shown, experiment = page(
        point("to-device", 0.9 * carried, **observations),
        # Its start came soon after another, and found the link awake.
        point("to-device", 0.5 * carried, {"memory": "pageable"}, **linked(LINK, LINK, LINK)),
        # Nobody waited for this one, so it shows nothing of the link.
        point(
            "to-device",
            7 * carried,
            {"submission": "unwaited"},
            **observations | {"orders_done_fraction": 0},
        ),
        point("both", 1.5 * carried, **observations),
    )
    (device,) = device_link.devices(shown.content, experiment)
    assert device["links"]["idle"]["speed"] == 2.5
    assert device["bound"]["rate"] == carried
    shares = {way: best["share"] for way, best in device["ways"].items()}
    assert shares == {"to the device": 0.9, "from it": None, "both ways": 0.75}
    html = shown.link().html
    assert (
        "16 GT/s on 16 lanes, of which 98 % is payload, carry 29.3 GiB/s each way"
        in html.replace("\u00a0", " ")
    )
    assert "90 % of it to the device and 75 % of it both ways" in html.replace("\u00a0", " ")
    assert "OpenCL: Made Up 9000" in html
    assert "recorded in the repository" not in html, "this machine has such a device"


def test_a_link_that_sleeps_bounds_by_what_it_was_under_load() -> None:
    shown, experiment = page(point("from-device", 1, **linked((2.5, 1), (5.0, 1), LINK)))
    (device,) = device_link.devices(shown.content, experiment)
    assert device["bound"] == device["links"]["load"]
    assert device_link.link_in_words(device["bound"]) == "5 GT/s × 1"


def test_a_bridge_that_is_the_slowest_is_named() -> None:
    observations = linked(LINK, (8.0, 4), LINK) | {"link_most_at": "0000:41:00.0"}
    observations |= {"link_idle_at": "0000:41:00.0", "link_load_at": "0000:40:01.1"}
    shown, experiment = page(point("from-device", 1, **observations))
    (device,) = device_link.devices(shown.content, experiment)
    assert device_link.link_in_words(device["links"]["idle"]) == "16 GT/s × 16"
    assert device_link.link_in_words(device["links"]["load"]) == "8 GT/s × 4 at 0000:40:01.1"
    (first, *_) = device_link.sentences([device], "GiB/s")[:1]
    assert first.endswith("each way: those of the bridge at 0000:40:01.1.")


def test_a_transfer_that_is_over_at_once_tells_nothing_of_the_load() -> None:
    small = point("to-device", 1, {"bytes": 4096}, **linked((2.5, 1), (2.5, 1), LINK))
    shown, experiment = page(small)
    (device,) = device_link.devices(shown.content, experiment)
    assert device["links"]["load"] is None
    assert device["bound"] == device["links"]["most"]


def test_host_memory_has_no_bus_and_an_unknown_link_no_rate() -> None:
    shown, experiment = page(
        point("to-device", 5, device_is_host_memory=1),
        point("to-device", 6, {"backend": "cuda"}, through_cuda=1, device_name="Other"),
    )
    first, second = device_link.sentences(device_link.devices(shown.content, experiment), "GiB/s")
    assert first == (
        "Through OpenCL the device is Made Up 9000: host memory, so no bus is in any figure of it."
    )
    assert second.startswith("Through CUDA the device is Other; the kernel names no link of it")
    html = shown.link().html
    assert "host memory, simulated" in html
    assert "No run on a machine with a device behind a link is recorded" in html


@pytest.mark.parametrize("here", ["no device", "host memory"])
def test_a_recorded_run_shows_the_link_that_this_machine_lacks(here: str) -> None:
    carried = link_bytes_per_s(*LINK) / GIB_PER_S
    observations = linked(LINK, LINK, LINK)
    pool = point("to-device", 0.8 * carried, **observations) | {"findings": ["pageable"]}
    loop = point("to-device", 0.9 * carried, {"transfer_threads": 0}, **observations) | {
        "findings": []
    }
    near = {"point": pool["point"], "plain": loop["point"], "emulates": "", "blocks": 9}
    near |= {"ratio": 0.965, "low95": 0.912, "high95": 0.973, "longer_ns": 47_000.0}
    near |= dict.fromkeys(("rate_bytes_per_s", "plain_bytes_per_s"), pool["rate_bytes_per_s"])
    own = [point("to-device", 5, device_is_host_memory=1)] if here == "host memory" else []
    shown, experiment = page(*own, recorded=(recorded_run(pool, loop, plain=(near,)),))
    html = shown.link().html.replace("\u00a0", " ")
    assert (
        "R2, not measured here: Made Up 9000 moves up to 90 % of what its link carries one way "
        "(pinned memory)" in html
    )
    assert "Other CPU, 16 cores, 2026-01-02, preset quick, 9 rounds" in html
    assert "0.965 (0.912 to 0.973)" in html
    assert '<td class="number">47.0</td>' in html
    assert "The whole interval lies below 0.98 for 1 of 1 ratio." in html
    assert "<td>pageable</td>" in html
    assert html.count("Speed and width come from the kernel") == 1
    assert "No run on a machine" not in html
    assert ("No device was measured here" in html) == (here == "no device")
    assert len(device_link.devices(shown.content, experiment)) == len(own)


def test_settings_stand_beside_each_other_at_the_size_that_most_have() -> None:
    shown, experiment = page(
        point("to-device", 5),
        point("to-device", 4, {"memory": "pageable", "data": "zeros"}),
        point("from-device", 3, {"transfer_threads": 0}),
        point("both", 6, {"transfer_threads": 4, "submission": "queued"}),
        point("to-device", 1, {"bytes": 4096}),
    )
    rows = device_link.rates_by_setting(shown.content, experiment)
    assert [row["name"] for row in rows] == [
        "OpenCL, pinned, 1 thread",
        "OpenCL, pageable, 1 thread, zeros",
        "OpenCL, pinned, a loop without a pool",
        "OpenCL, pinned, 4 threads, queued",
    ]
    cells = [[cell and round(cell["rate"], 9) for cell in row["cells"]] for row in rows]
    assert cells == [[5, None, None], [4, None, None], [None, 3, None], [None, None, 6]]
    assert "a loop without a pool" in shown.link().html


def test_the_pool_stands_beside_a_plain_loop() -> None:
    pool = point("both", 4, {"transfer_threads": 2, "submission": "queued"})
    loop = point("both", 5, {"transfer_threads": 0, "submission": "queued"})
    shown, experiment = page(pool, loop)
    assert "plain loop" not in shown.link().html
    row = {"point": pool["point"], "plain": loop["point"], "emulates": "", "blocks": 8}
    row |= {"ratio": 0.8, "low95": 0.79, "high95": 0.81, "longer_ns": 3e6}
    row |= {"rate_bytes_per_s": 4 * GIB_PER_S, "plain_bytes_per_s": 5 * GIB_PER_S}
    experiment["plain"] = [row]
    html = shown.link().html.replace("\u00a0", " ")
    assert "The pool of threads moves 0.800 of what a plain loop moves" in html
    assert "both, 64 MiB, OpenCL, pinned, 2 threads, queued" in html
    assert "0.800 (0.790 to 0.810)" in html
    assert "not a bus" not in html
    assert "The whole interval lies below 0.98 for 1 of 1 ratio." in html
    experiment["plain"] = [row | {"emulates": "host memory"}, row | {"ratio": 1.0}]
    html = shown.link().html
    assert "0.800 to 1.000" in html
    assert "not a bus" in html


def test_without_a_device_the_section_says_so() -> None:
    shown, _ = page()
    assert "No device was measured here" in shown.link().html


def test_sizes_of_many_orders_stand_on_an_axis_of_logarithms() -> None:
    sizes = (8, 4096, 1 << 16, 1 << 20, 1 << 26)
    line = Curve("a line", "#000000", [(size, 10.0 + size, None, None, []) for size in sizes])
    drawn = curves("sizes", "Times by size.", [line], "µs", "bytes")
    assert drawn is not None
    words = [word for word in ("8 B", "4 KiB", "1 MiB", "64 MiB") if word in drawn.svg]
    assert words[0] == "8 B" and words[-1] == "64 MiB"
    even = curves(
        "sizes", "Times by count.", [replace(line, values=line.values[:2])], "µs", "count"
    )
    assert even is not None and "4,096" in even.svg


@pytest.mark.parametrize(
    ("verdicts", "leads"),
    [
        (["not_measurable_here", "not_measurable_here", "reproduced"], 2),
        (["not_measurable_here", "inconclusive", "not_reproduced"], 1),
        (["not_reproduced", "not_measurable_here", "reproduced"], 0),
        (["not_measurable_here", "not_measurable_here"], 0),
        ([], None),
    ],
)
def test_the_page_opens_with_a_claim_that_was_measured(
    verdicts: list[str], leads: int | None
) -> None:
    claims = [{"claim": number, "verdict": verdict} for number, verdict in enumerate(verdicts)]
    leading = answer_section.leading({"figures": [{"claims": claims[:1]}, {"claims": claims[1:]}]})
    assert (leading and leading["claim"]) == leads


def test_hollow_dots_are_explained_where_they_are() -> None:
    def figure(emulates: str, rerun: float | None) -> dict[str, Any]:
        return {"rows": [{"emulates": emulates, "rerun": rerun, "low": rerun, "high": rerun}]}

    hollow, full, empty = figure("host memory stands", 1.0), figure("", 1.0), figure("", None)
    assert "Hollow dots on dashed lines: host memory stands" in paper_panels.how_to_read(
        [full, hollow]
    )
    assert "Hollow dots" not in paper_panels.how_to_read([full, empty])
