"""What pages call points and the values of their factors."""

from __future__ import annotations

from typing import Any

from benchbook.report import wording

POINTS = ["v,call=getpid-libc,method=batch", "v,call=loop,method=batch"]


def paper(**values: dict[str, str]) -> dict[str, Any]:
    """As much of paper.json as names are made of."""
    experiment = {"names": {"batch": "batches"}, "values": values}
    points = [{"point": point, "experiment": "e"} for point in POINTS]
    return {"points": points, "experiments": {"e": experiment}, "figures": []}


def test_values_are_called_as_the_experiment_names_them() -> None:
    named = paper(call={"getpid-libc": "getpid()", "loop": "an empty loop"})
    assert wording.differing(named, *POINTS) == ("getpid()", "an empty loop")
    assert wording.point_name(named, POINTS[0]) == "batches, getpid(), v"


def test_values_without_a_name_are_called_as_all_of_their_kind() -> None:
    assert wording.differing(paper(), *POINTS) == ("getpid-libc", "loop")
    sizes = ["v,bytes=4096", "v,bytes=65536"]
    content = {**paper(), "points": [{"point": size, "experiment": "e"} for size in sizes]}
    assert [size.replace("\u00a0", " ") for size in wording.differing(content, *sizes)] == [
        "4 KiB",
        "64 KiB",
    ]
