"""Definitions that fit neither each other nor their files: one sentence before anything runs."""

from __future__ import annotations

import shutil
import subprocess
import sys
from collections.abc import Callable
from copy import deepcopy
from functools import cache
from pathlib import Path
from typing import Any

import pytest
import yaml
from conftest import ROOT

from benchbook import crosscheck
from benchbook.core.errors import BenchbookError
from benchbook.crosscheck import experiments, papers
from benchbook.crosscheck.spaces import Space
from benchbook.define import catalogue
from benchbook.workflow import open_lab

EXPERIMENT = "kernels/mbw/experiment.yaml"
STREAM = "kernels/stream/experiment.yaml"
SYSCALLS = "kernels/syscall/experiment.yaml"
CONTROL = "kernels/controls/source-not-advanced/control.yaml"
PROBE = "kernels/probe/probe.yaml"
PAPER = "data/published/slocum2013-mbw/paper.yaml"
TABLES = "data/published/stream-array-size/paper.yaml"
ROUND_TRIPS = "data/published/e7udpip-latency/paper.yaml"
TABLE = "data/published/slocum2013-mbw/mbw-32.csv"
EACH = {"path": "veth", "switches": 0, "link_bits_per_s": 0, "payload_bytes": 1024, "gap_ns": 0}
EACH |= {"method": "socket-each"}
COPY = {"variant": "gcc-O2", "bytes": "32 MiB", "method": "copy", "call": "memcpy"}


# Both are safe; the one in C, where it is there, takes an eighth of the time.
LOADER = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
DUMPER = getattr(yaml, "CSafeDumper", yaml.SafeDumper)


def copied(folder: Path) -> Path:
    """The definitions of this checkout in that folder."""
    for name in ("config", "kernels", "data/published"):
        shutil.copytree(ROOT / name, folder / name)
    (folder / "config/local.yaml").unlink(missing_ok=True)
    return folder


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    return copied(tmp_path)


@pytest.fixture(scope="module")
def mended(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """One copy for all cases of one file; each mends again what it changed."""
    return copied(tmp_path_factory.mktemp("mended"))


def change(path: Path, edit: Callable[[Any], Any]) -> None:
    content = yaml.load(path.read_text(), LOADER)
    edit(content)
    path.write_text(yaml.dump(content, Dumper=DUMPER, sort_keys=False))


@cache
def spaces() -> dict[str, Space]:
    """The experiments of this checkout, which no case about a paper or a control changes."""
    return {name: experiments.experiment(ROOT, name) for name in catalogue.experiments(ROOT)}


def check(checkout: Path, file: str) -> None:
    """What this file alone is asked, because to read all the others again takes half a second."""
    match Path(file).parts:
        case ["kernels", "controls", name, _]:
            experiments.control(checkout, f"{catalogue.CONTROLS}{name}")
        case ["kernels", name, _]:
            experiments.experiment(checkout, name)
        case ["data", _, name, _]:
            papers.paper(checkout, name, deepcopy(spaces()))
        case _:
            crosscheck.check(checkout)


def refusal(checkout: Path, file: str = "") -> str:
    with pytest.raises(BenchbookError) as caught:
        check(checkout, file)
    said = str(caught.value)
    assert "\n" not in said
    return said


def setter(*path: Any) -> Callable[[Any], None]:
    """`setter("points", "tiny", 0, "method", "nothing")` sets the last at the place before."""

    def edit(content: Any) -> None:
        for part in path[:-2]:
            content = content[part]
        content[path[-2]] = path[-1]

    return edit


def adder(*path: Any) -> Callable[[Any], None]:
    """As `setter`, appending to the list at the place."""

    def edit(content: Any) -> None:
        for part in path[:-1]:
            content = content[part]
        content.append(path[-1])

    return edit


def claim(*path: Any) -> Callable[[Any], None]:
    return setter("figures", 1, "claims", 0, *path)


def remover(*path: Any) -> Callable[[Any], None]:
    """Takes away the key or item at the place."""

    def edit(content: Any) -> None:
        for part in path[:-1]:
            content = content[part]
        del content[path[-1]]

    return edit


def of_figure(figure: str, *path: Any) -> Callable[[Any], None]:
    """As `setter`, in the figure of that id; a claim is named by its id too."""

    def edit(content: Any) -> None:
        found = next(entry for entry in content["figures"] if entry["id"] == figure)
        inner = path
        if inner[0] == "claims":
            found = next(claim for claim in found["claims"] if claim["id"] == inner[1])
            inner = inner[2:]
        setter(*inner)(found)

    return edit


def twice(*path: Any) -> Callable[[Any], None]:
    """The first item of the list at the place stands in it again."""

    def edit(content: Any) -> None:
        for part in path:
            content = content[part]
        content.append(content[0])

    return edit


def test_this_checkout_passes(checkout: Path) -> None:
    crosscheck.check(ROOT)
    crosscheck.check(checkout)
    found = open_lab(str(checkout), {"preset": "tiny"}).papers
    assert {"slocum2013-mbw", "stream-array-size"} <= set(found)


EXPERIMENTS = [
    (setter("base", "gcc-O9"), "'base' is 'gcc-O9', which is no variant; allowed: gcc-O2"),
    (setter("sources", ["gone.c"]), "'sources' names 'gone.c', which is not in its folder"),
    (setter("procedures", ["gone.x"]), "'procedures' names 'gone.x', which is not in its folder"),
    (
        setter("libraries", {"m": {"header": "math.h", "package": "libc6-dev"}}),
        "'libraries' is not built into what is simulated or searched for limits; write `simulate",
    ),
    (setter("starts", ["size"]), "'starts' is 'size', which is no factor; allowed: bytes"),
    (setter("parts", ["method"]), "'parts' is 'method', which is no factor in 'starts'; allowed"),
    (setter("factors", "variant", {"text": "t"}), "'factors' names 'variant'"),
    (setter("factors", "bytes", {"text": "t"}), "'factors.bytes' counts bytes; give it `unit:"),
    (setter("names", "fast", "quick"), "'names.fast' is 'fast', which is no method"),
    (
        setter("factors", "call", "names", {"memcopy": "the loop"}),
        "'factors.call.names' is 'memcopy', which is no value in 'points'; allowed: memcpy",
    ),
    (setter("definitions", "copy", " "), "'definitions.copy' is empty"),
    (setter("calls", "copy", ["memcpy"]), "'calls' names 'copy'; timed functions begin 'timed_'"),
    (setter("calls", "timed_x", []), "'calls.timed_x' is empty"),
    (setter("points", {"tiny": []}), "'points' names no point"),
    (setter("points", "tiny", 0, "colour", 1), "'points.tiny.0' names 'colour', which is no"),
    (
        setter("points", "tiny", 0, "variant", "icc"),
        "'points.tiny.0.variant' is 'icc', which is no variant; allowed: gcc-O2",
    ),
    (
        setter("points", "quick", 0, "method", ["loop", "lop"]),
        "'points.quick.0.method' is 'lop', which is no method in 'definitions'; allowed: copy",
    ),
    (setter("points", "tiny", 0, "method", []), "'points.tiny.0.method' is an empty list"),
    (setter("points", "tiny", 0, "bytes", "32 mib"), "'points.tiny.0.bytes' is '32 mib'; write a"),
    (setter("points", "tiny", 0, "bytes", 1.5), "'points.tiny.0.bytes' is 1.5; write a size"),
    (setter("points", "tiny", 0, "bytes", -4096), "'points.tiny.0.bytes' is -4096; write a size"),
    (setter("points", "paper", 0, "call", ["memcpy", 3]), "'points.paper.0.call' is 3, a number"),
    (setter("twins", 0, "method", "copi"), "'twins.0.method' is 'copi', which is no method"),
    (setter("twins", 0, "bytes", "33 MiB"), "'twins.0' is in no preset of kernels/mbw"),
]
SAMPLES = [
    (setter("unlooped", 0, "how", "x"), "'unlooped.0' names 'how', which is no factor; allowed"),
    (setter("unlooped", 0, "method", "each"), "'unlooped.0.method' is 'each', which is no method"),
    (setter("unlooped", 0, "call", "gone"), "'unlooped.0' fits no point of any preset; mend it"),
    (setter("unlooped", 0, "variant", "gcc-O2"), "'unlooped.0' names a variant, and factors are"),
    (setter("baseline", "call", "gone"), "'baseline' fits no point of any preset; mend it or"),
    (setter("baseline", "way", "mmap"), "'baseline' names 'way', which is no factor; allowed:"),
    (setter("plain", {"way": "mmap"}), "'plain' names 'way', which is no factor; allowed:"),
    (setter("plain", {"call": "gone"}), "'plain' fits no point of any preset; mend it or leave"),
]
BEYOND = [
    (setter("limits", "variants", ["gcc"]), "'limits.variants' is 'gcc', which is no variant of"),
    (setter("limits", "define", "SIZE"), "'limits.define' is 'SIZE', which no source uses"),
    (setter("trials", 0, "variant", "gcc"), "'trials.0.variant' is 'gcc', which is no variant of"),
    (setter("trials", 0, "options", "method", "copy"), "'trials.0.options' is 'method', which is"),
    (setter("trials", 0, "point", "bytes", 64), "'trials.0.point' is 'bytes', which is no factor"),
    (setter("trials", 0, "point", "method", "copi"), "'trials.0.method' is 'copi', which is no"),
    (setter("trials", 2, "options", "bytes", "2 memory"), "'trials.2.bytes' is '2 memory'; wri"),
    (setter("trials", 2, "options", "threads", "1 to cores"), "'trials.2' names several points"),
    (twice("trials"), "'trials' has the id \"static arrays, the source's largest\" twice"),
    (setter("points", "tiny", 0, "bytes", "2 x memory"), "'points.tiny.0.bytes' is '2 x memory';"),
]
CONTROLS = [
    (setter("kernel", "mwb"), "'kernel' is 'mwb', which is no kernel; known: "),
    (setter("kernel", "probe"), "'kernel' is 'probe', which is no kernel; known: "),
    (setter("artefact", "other"), "'artefact' is 'other'; its folder is 'source-not-advanced'"),
    (setter("nulls", 0, "variant", "x"), "'nulls.0.variant' is 'x', which is no variant; allowed"),
    (setter("variant", "wrapper", ["x"]), "'variants.control.wrapper' names 'x', which is no prog"),
    (setter("provoked", 0, "colour", 1), "'provoked.0' names 'colour', which is no factor"),
    (setter("nulls", 0, "method", "copi"), "'nulls.0.method' is 'copi', which is no method"),
    (setter("nulls", 0, "call", 7), "'nulls.0.call' is 7, a number, and 'provoked.0.call' of"),
]
PAPERS = [
    (setter("id", "other"), "'id' is 'other'; its folder is 'slocum2013-mbw'"),
    (setter("shares", {"mwb": 2}), "'shares' is 'mwb', which is no experiment of its figures"),
    (twice("figures"), "'figures' has the id 'mbw-32' twice; rename one"),
    (setter("figures", 0, "experiment", "mwb"), "'figures.mbw-32.experiment' is 'mwb', which is"),
    (setter("figures", 0, "y_unit", "MiB"), "'figures.mbw-32.y_unit' is 'MiB', which is no known"),
    (setter("figures", 0, "table", "gone.csv"), "'figures.mbw-32.table' is 'gone.csv', which cann"),
    (setter("figures", 0, "table", "../x.csv"), "'figures.mbw-32.table' is '../x.csv'; name a .cs"),
    (setter("figures", 0, "x", "form"), "'figures.mbw-32.x' is 'form', which is no column of mbw"),
    (setter("figures", 0, "y", "mb"), "'figures.mbw-32.y' is 'mb', which is no column of mbw-32"),
    (
        setter("figures", 0, "select", 0, "row", {"form": "DUMB"}),
        "'figures.mbw-32.select.0.row' names 'form', which is no column of mbw-32.csv",
    ),
    (
        setter("figures", 0, "select", 0, "row", {"method": "CLEVER"}),
        "'figures.mbw-32.select.0.row' finds 0 rows of mbw-32.csv, and must find one",
    ),
    (
        setter("figures", 0, "select", 0, "row", {"size_mib": "32.00000"}),
        "'figures.mbw-32.select.0.row' finds 3 rows of mbw-32.csv, and must find one",
    ),
    (
        setter("figures", 0, "select", 1, "point", "method", "lop"),
        "'figures.mbw-32.select.1.point.method' is 'lop', which is no method",
    ),
    (
        setter("figures", 0, "select", 1, "point", "variant", "gcc"),
        "'figures.mbw-32.select.1.point.variant' is 'gcc', which is no variant",
    ),
    (
        setter("figures", 0, "select", 1, "point", "methods", "loop"),
        "'figures.mbw-32.select.1.point' names 'methods', which is no factor",
    ),
    (
        setter("figures", 0, "select", 1, "point", "bytes", ["8 MiB", "32 MiB"]),
        "'figures.mbw-32.select.1.point.bytes' is a list, and one point is meant",
    ),
    (
        setter("figures", 0, "select", 1, "point", "bytes", "33 MiB"),
        "'figures.mbw-32.select.1.point' is in no preset of kernels/mbw/experiment.yaml",
    ),
    (
        remover("figures", 0, "select", 1, "point"),
        "'figures.mbw-32.select.1' needs a 'point', or says in 'beyond_host' why no host",
    ),
    (
        setter("figures", 0, "select", 1, "beyond_host", "none does"),
        "'figures.mbw-32.select.1' needs a 'point', or says in 'beyond_host' why no host",
    ),
    (twice("figures", 1, "claims"), "'figures.mbw-b4096-32.claims' has the id 'order-of-magnitude"),
    (claim("estimand", "numerator", "method", "x"), "magnitude.estimand.numerator.method' is 'x'"),
    (claim("estimand", "denominator", "size", 1), "estimand.denominator' names 'size', which is"),
    (claim("estimand", "numerator", COPY), "order-of-magnitude.estimand' compares a point with it"),
    (
        claim("estimand", "numerator", {**COPY, "bytes": 2**25}),
        "order-of-magnitude.estimand' compares a point with itself; let numerator",
    ),
    (claim("region", [None, None]), "order-of-magnitude.region' has no bound; give the lower one"),
    (claim("region", [2, 1]), "region' is [2, 1]; write the lower bound first"),
    (claim("region", [1, 1]), "region' is [1, 1]; write the lower bound first"),
    (claim("region", [-1, 2]), "region' is [-1, 2], and a ratio is above 0; write null where no"),
    (claim("region", [1, float("inf")]), "'figures.1.claims.0.region.1' is not a finite number"),
    (claim("region", [float("nan"), 2]), "'figures.1.claims.0.region.0' is not a finite number"),
    (claim("region", [1, 10**400]), "'figures.1.claims.0.region.1' is not a finite number"),
    (claim("region", [1]), "'figures.1.claims.0.region' is [1]; it needs at least 2 items"),
    (claim("region", [1, 2, 3]), "claims.0.region' is [1, 2, 3]; it takes at most 2 items"),
]
STUCK = {**COPY, "method": "block-1.1.1", "call": "mempcpy", "block_bytes": "4 KiB"}
SHARE = ("mbw-b4096-32", "claims", "repeated-block-is-the-cause")
CLOSER = ("mbw-1.3.0-b4096-8", "claims", "more-consistent-after-the-fix")
KINDS = [
    (claim("estimand", "kind", "mean"), "claims.0.estimand.kind' is 'mean'; allowed: audit, beyo"),
    (remover("figures", 1, "claims", 0, "estimand", "kind"), "key 'kind' is missing in 'figures.1"),
    (claim("estimand", "over", "bytes"), "key 'over' in 'figures.1.claims.0.estimand' is unknown"),
    (claim("estimand", "quantity", "speed"), "estimand.quantity' is 'speed'; allowed: rate, time"),
    (remover("figures", 1, "claims", 0, "statistic"), "magnitude.statistic' is missing; name the"),
    (claim("statistic", "max"), "figures.1.claims.0.statistic' is 'max'; allowed: "),
    (
        of_figure(*SHARE, "estimand", "removed", STUCK),
        "repeated-block-is-the-cause.estimand' compares a point with itself; let odd and base and",
    ),
    (remover("figures", 1, "claims", 2, "estimand", "removed"), "key 'removed' is missing in"),
    (of_figure(*SHARE, "region", [0.5, 0.5]), "region' is [0.5, 0.5]; write the lower bound first"),
    (
        of_figure(*CLOSER, "region", [0, 1]),
        "more-consistent-after-the-fix.region' is [0, 1], and a ratio is above 0; write null",
    ),
    (
        of_figure(*CLOSER, "estimand", "numerator", 2, {**STUCK, "bytes": "9 MiB"}),
        "fix.estimand.numerator.2' is in no preset of kernels/mbw/experiment.yaml",
    ),
    (of_figure(*CLOSER, "estimand", "numerator", [STUCK]), "estimand.numerator' is "),
]
DROP = ("mbw-1.2.2-b4096-8", "claims", "drop-to-1.2.2", "cells")
CELLS = [
    (of_figure(*DROP, "numerator", "row", {"method": "M"}), "cells.numerator.row' finds 0 rows of"),
    (of_figure(*DROP, "numerator", "row", {"form": "M"}), "cells.numerator.row' names 'form', whi"),
    (of_figure(*DROP, "numerator", "column", "mb"), "numerator.column' is 'mb', which is no colum"),
    (
        of_figure(*DROP, "numerator", "column", "method"),
        "numerator' finds 'MCBLOCK', which is no n",
    ),
    (
        of_figure(*DROP, "numerator", "table", "x.csv"),
        "numerator.table' is 'x.csv', which cannot b",
    ),
    (
        of_figure(*DROP, "odd", {"table": "t", "row": {}, "column": "c"}),
        "odd' is 'odd', which is n",
    ),
]
ALL = ("deviations", "claims", "all-within-5-percent-virtual", "estimand")
LIMIT = ("physical", "claims", "large-model-compiles-them", "estimand")
FAULT = ("physical", "claims", "segmentation-fault", "estimand")
AUDIT = ("formula", "claims", "formula-gives-its-examples", "estimand")
RANGES = [
    (of_figure(*ALL, "points", "bytes", ["64 MiB"]), "estimand.points' is in no preset of kernels"),
    (
        of_figure(*ALL, "points", "bytes", ["4.375 x total LLC"]),
        "estimand.over' is 'bytes', of which 'points' names fewer than two values; name a list",
    ),
    (
        of_figure(*ALL, "points", "bytes", "4.375 x total LLC"),
        "estimand.over' is 'bytes', of which 'points' names fewer than two values; name a list",
    ),
    (of_figure(*ALL, "over", "colour"), "over' is 'colour', of which 'points' names fewer than tw"),
    (of_figure(*ALL, "over", "threads"), "over' is 'threads', of which 'points' names fewer than"),
    (of_figure(*ALL, "points", "colour", [1, 2]), "estimand.points' names 'colour', which is no f"),
    (of_figure(*ALL, "holds", "some"), "estimand.holds' is 'some'; allowed: all, most"),
    (of_figure("deviations", "ranges", 0, "row", {"label": "copy"}), "ranges.0.row' finds 2 rows"),
    (
        of_figure("deviations", "ranges", 1, "points", "method", "copy-nt"),
        "'figures.deviations.ranges.1.points' is in no preset of kernels/stream/experiment.yaml",
    ),
    (
        of_figure("deviations", "ranges", 1, "points", "bytes", ["4.375 x total LLC"]),
        "'figures.deviations.ranges.1.over' is 'bytes', of which 'points' names fewer than two",
    ),
    (of_figure("deviations", "y", "spread"), "'figures.deviations.y' is 'spread', which is no col"),
    (of_figure("deviations", "ranges", []), "ranges' is []; it needs at least 1 item"),
]
FACTS = [
    (of_figure(*FAULT, "trial", "too large"), "estimand.trial' is 'too large', which is no trial"),
    (of_figure(*FAULT, "quantity", "rate"), "quantity' is 'rate'; allowed: signal, exit_status"),
    (
        of_figure(*LIMIT, "variant", "gcc-O3"),
        "estimand.variant' is 'gcc-O3', which is no variant i",
    ),
    (
        of_figure(*LIMIT, "variant", "gcc-O9"),
        "estimand.variant' is 'gcc-O9', which is no variant i",
    ),
    (
        of_figure(*AUDIT, "rule", "sums"),
        "estimand.rule' is 'sums', which is no rule in its audit.y",
    ),
    (of_figure(*AUDIT, "table", "gone.csv"), "estimand.table' is 'gone.csv', which is not next to"),
    (of_figure(*AUDIT, "column", "elements"), "estimand.column' is 'elements', which is no column"),
    (of_figure("formula", "recomputed", "sums"), "formula.recomputed' is 'sums', which is no rule"),
]
GAP = ("socket-each", "claims", "a-switch-narrows-the-gap")
GROWS = ("one-socket", "claims", "time-grows-unevenly")
BUFFER = ("one-socket", "claims", "a-packet-buffer-takes-8-us", "estimand")
BEYOND_HOST = ("socket-each", "claims", "software-costs-50-us-more")
ROUND_TRIP = {
    "table": "round_trips.csv",
    "row": {"switches": 0, "sockets": "one socket"},
    "column": "latency_us",
}
BOTH = {"numerator": ROUND_TRIP, "denominator": ROUND_TRIP}
TIMES = [
    (
        of_figure(*BEYOND_HOST, "cells", {"numerator": ROUND_TRIP}),
        "cells.numerator' is one side of a ratio; name 'numerator' and 'denominator'",
    ),
    (
        of_figure(*BEYOND_HOST, "cells", {**BOTH, "odd": ROUND_TRIP}),
        "cells.odd' is 'odd', which is no side of one point; allowed: numerator, denominator",
    ),
    (of_figure("no-switch", "y_unit", "us"), "'figures.no-switch.y_unit' is 'us', which is no kno"),
    (of_figure(*BUFFER, "unit", "MB"), "estimand.unit' is 'MB'; allowed: ns, µs, ms, s"),
    (of_figure(*BUFFER, "ways", 3), "estimand.ways' is 3; allowed: 1, 2"),
    (of_figure(*BUFFER, "over", "path"), "over' is 'path', which is not a number at every point"),
    (of_figure(*BUFFER, "over", "wait"), "over' is 'wait', which is not a number at every point"),
    (
        of_figure(*BUFFER, "points", 0, "switches", [1, 2]),
        "over' is 'switches', of which 'points' names fewer than 3 values; name more of them",
    ),
    (of_figure(*BUFFER, "points", 0, "switches", [1, 2, 9]), "points.0' is in no preset of kernel"),
    (of_figure(*GAP, "estimand", "subtrahend", []), "subtrahend' is []; it needs at least 1 item"),
    (
        of_figure(*GAP, "estimand", "subtrahend", [{**EACH, "wait": "spin"}]),
        "adds more times than it takes away; name as many on both sides",
    ),
    (of_figure(*GROWS, "beside", {"wait": "block"}), "beside' changes nothing; name another value"),
    (of_figure(*GROWS, "beside", {"wait": "nap"}), "beside' is in no preset of kernels/udp"),
    (of_figure(*GROWS, "beside", {"colour": 1}), "beside' names 'colour', which is no factor"),
    (setter("sweeps", 0, "id", "no-switch"), "'sweeps' has the id 'no-switch' twice; rename one"),
    (setter("sweeps", 0, "experiment", "tcp"), "'sweeps.switches.experiment' is 'tcp', which is"),
    (
        setter("sweeps", 0, "series", 0, "printed", "y", "ms"),
        "'sweeps.switches.series.one-socket.printed' is 'ms', which is no column of round_trips",
    ),
    (
        setter("sweeps", 0, "series", 0, "printed", "y", "case"),
        "one-socket.printed' finds 'ソケット",
    ),
    (
        setter("sweeps", 1, "series", 3, "above", "free"),
        "free-64.above' is 'free', which is no ot",
    ),
    (
        setter("sweeps", 0, "stated", "cell", "row", "statement", "none"),
        "'sweeps.switches.stated.cell' finds 0 rows of statements.csv",
    ),
    (setter("sweeps", 1, "wire", "link", "rate"), "wire.link' is 'rate', which is no factor of ke"),
    (
        setter("sweeps", 0, "unit", "ratio"),
        "'sweeps.switches.slopes' is true, and only plain times",
    ),
    (
        setter("sweeps", 0, "per", {"size": 2, "word": "pair"}),
        "'sweeps.switches.slopes' is true, and only plain times have slopes; write false",
    ),
    (
        setter("sweeps", 0, "series", 0, "against", [{}]),
        "'sweeps.switches.series.one-socket' needs 'against' in a sweep of unit ratio",
    ),
    (setter("sweeps", 0, "over", "method"), "over' is 'method', which is not a number at every po"),
    (
        setter("sweeps", 0, "speedup", True),
        "'sweeps.switches.speedup' is true, and a speed-up is a ratio; write unit: ratio",
    ),
    (
        of_figure(
            "no-switch",
            "traffic",
            {"messages_per_s": "rate", "message_size": "rate", "size_bytes": 1},
        ),
        "'figures.no-switch.traffic.messages_per_s' is 'rate', which is no column of round_trips",
    ),
]
CASES = [
    (file, edit, sentence)
    for file, cases in (
        (EXPERIMENT, EXPERIMENTS),
        (STREAM, BEYOND),
        (SYSCALLS, SAMPLES),
        (CONTROL, CONTROLS),
        (PAPER, [*PAPERS, *KINDS, *CELLS]),
        (TABLES, [*RANGES, *FACTS]),
        (ROUND_TRIPS, TIMES),
    )
    for edit, sentence in cases
]


@pytest.mark.parametrize(
    ("file", "edit", "sentence"), CASES, ids=[sentence[:40] for _, _, sentence in CASES]
)
def test_what_does_not_fit_is_one_sentence(
    mended: Path, file: str, edit: Callable[[Any], Any], sentence: str
) -> None:
    text = (mended / file).read_text()
    try:
        change(mended / file, edit)
        said = refusal(mended, file)
    finally:
        (mended / file).write_text(text)
    assert f"{file}: key " in said
    assert sentence in said


def test_a_speed_up_is_over_one_point(checkout: Path) -> None:
    file = "data/published/ssscore/paper.yaml"

    def edit(content: Any) -> None:
        sweep = next(sweep for sweep in content["sweeps"] if sweep.get("speedup"))
        sweep["series"][0]["against"][0]["ranks"] = [1, 2]

    change(checkout / file, edit)
    assert "'ranks', and a speed-up is over one point; name one" in refusal(checkout, file)


def test_a_null_that_is_replayed_need_not_be_played(checkout: Path) -> None:
    change(checkout / CONTROL, remover("nulls"))
    assert f"{CONTROL}: key 'nulls' is missing" in refusal(checkout, CONTROL)
    (checkout / CONTROL).with_name("replay.py").write_text("")
    check(checkout, CONTROL)


@pytest.mark.parametrize(
    "kinds", [(), ("select",), ("ranges",), ("grid", "recomputed"), ("recomputed", "select")]
)
def test_a_figure_is_one_of_its_kinds(checkout: Path, kinds: tuple[str, ...]) -> None:
    """None, two, or one with nothing in it."""
    values = {"grid": "of the first", "recomputed": "formula", "select": [], "ranges": None}

    def edit(content: Any) -> None:
        figure = next(figure for figure in content["figures"] if figure["id"] == "formula")
        del figure["recomputed"]
        figure |= {kind: values[kind] for kind in kinds}
        if "grid" in kinds:
            figure["grid"] = content["figures"][0]["grid"]

    change(checkout / TABLES, edit)
    assert refusal(checkout, TABLES).endswith(
        f"{TABLES}: figure 'formula' needs one of 'select', 'grid', 'ranges', 'recomputed'"
    )


def test_an_audit_needs_the_papers_own(checkout: Path) -> None:
    (checkout / TABLES).with_name("audit.yaml").unlink()
    said = refusal(checkout, TABLES)
    assert "recomputed' is 'formula', which is no rule in its audit.yaml; allowed: " in said


@pytest.mark.parametrize(
    ("file", "edit", "sentence"),
    [
        (EXPERIMENT, setter("base", "gcc-O9"), "'base' is 'gcc-O9', which is no variant"),
        (CONTROL, setter("kernel", "mwb"), "'kernel' is 'mwb', which is no kernel"),
        (PAPER, setter("id", "other"), "'id' is 'other'; its folder is 'slocum2013-mbw'"),
    ],
)
def test_every_kind_of_file_is_asked(
    checkout: Path, file: str, edit: Callable[[Any], Any], sentence: str
) -> None:
    change(checkout / file, edit)
    assert f"{file}: key {sentence}" in refusal(checkout)


@pytest.mark.parametrize(
    ("table", "sentence"),
    [
        ("method,copy_mib_per_s,method\n", "in which a column stands twice"),
        ("method,copy_mib_per_s\nMEMCPY,1,2\n", "whose row 'MEMCPY' has 3 cells for 2 columns"),
        ('method,copy_mib_per_s\n"MEMCPY,1\n', "which is not CSV in UTF-8"),
        ("method,copy_mib_per_s\nM\udcff,1\n", "which is not CSV in UTF-8"),
        ("", "'figures.mbw-32.x' is 'method', which is no column"),
    ],
)
def test_broken_tables_are_one_sentence(checkout: Path, table: str, sentence: str) -> None:
    (checkout / TABLE).write_bytes(table.encode(errors="surrogateescape"))
    said = refusal(checkout, PAPER)
    assert said.startswith(f"{PAPER}: key 'figures.mbw-32.")
    assert sentence in said


def test_probe_without_its_source_is_one_sentence(checkout: Path) -> None:
    change(checkout / PROBE, setter("sources", ["gone.c"]))
    assert refusal(checkout).startswith(f"{PROBE}: key 'sources' names 'gone.c'")


def test_threads_are_whole_numbers(checkout: Path) -> None:
    change(checkout / EXPERIMENT, setter("factors", "threads", {"text": "how many"}))
    change(checkout / EXPERIMENT, adder("points", "paper", {**COPY, "threads": [1, 2]}))
    crosscheck.check(checkout)
    change(checkout / EXPERIMENT, setter("points", "paper", -1, "threads", [1, 1.5]))
    assert "threads' is 1.5; it must be a whole number from 1" in refusal(checkout)


@pytest.mark.parametrize(
    ("file", "edit", "sentence"),
    [
        (
            EXPERIMENT,
            setter("variants", "gcc O2", {"compiler": "gcc"}),
            "key 'gcc O2' in 'variants' is not a name; allowed: letters, digits and . _ + -",
        ),
        (EXPERIMENT, setter("factors", "a/b", {"text": "t"}), "key 'a/b' in 'factors' is not a"),
        (EXPERIMENT, setter("definitions", "-x", "t"), "key '-x' in 'definitions' is not a name"),
        (EXPERIMENT, setter("names", "", "t"), "key '' in 'names' is not a name"),
        (EXPERIMENT, setter("points", "huge", []), "key 'huge' in 'points' is unknown; allowed: t"),
        (EXPERIMENT, setter("buffers", 2.0), "key 'buffers' is 2.0; it must be a whole number"),
        (PROBE, setter("variants", "a b", {"compiler": "gcc"}), "key 'a b' in 'variants' is not"),
        (PAPER, setter("language", False), "key 'language' is False; it must be text; put it in"),
        (PAPER, setter("figures", 0, "id", "a/b"), "key 'figures.0.id' is 'a/b'; allowed: lett"),
    ],
)
def test_names_and_kinds_are_one_sentence(
    checkout: Path, file: str, edit: Callable[[Any], Any], sentence: str
) -> None:
    change(checkout / file, edit)
    said = refusal(checkout)
    assert f"{file}: {sentence}" in said


def test_workflow_says_it_before_anything_runs(checkout: Path, capsys) -> None:
    change(checkout / PAPER, setter("figures", 0, "y_unit", "parsec"))
    with pytest.raises(SystemExit, match="1"):
        open_lab(str(checkout), {})
    said = capsys.readouterr().err
    assert said.startswith(f"benchbook: {PAPER}: key 'figures.mbw-32.y_unit' is 'parsec'")
    assert said.count("\n") == 1


@pytest.mark.parametrize(
    ("figure", "sentence"),
    [
        ("nobody/mbw-32", "key 'figure' is 'nobody/mbw-32'; known papers: e7udpip-latency"),
        ("slocum2013-mbw/x", "slocum2013-mbw has these figures: mbw-32, mbw-b4096-32"),
    ],
)
def test_unknown_figure_is_one_sentence(checkout: Path, capsys, figure: str, sentence: str) -> None:
    with pytest.raises(SystemExit, match="1"):
        open_lab(str(checkout), {"figure": figure})
    said = capsys.readouterr().err
    assert said.startswith("benchbook: --config: key 'figure'")
    assert sentence in said
    assert said.count("\n") == 1


def test_what_the_snakefile_imports_needs_yaml_and_pydantic_only() -> None:
    """The workflow engine's Python may lack the rest."""
    program = (
        "import sys; import benchbook.workflow; print(*{'numpy', 'pandas', 'pyarrow', 'jsonschema',"
        " 'rich', 'scipy', 'typer', 'snakemake'} & set(sys.modules))"
    )
    said = subprocess.run(
        [sys.executable, "-c", program], cwd=ROOT, capture_output=True, text=True, check=True
    )
    assert said.stdout.split() == []


def test_a_peer_is_read_by_a_parser_that_is_there(checkout: Path) -> None:
    file = "kernels/mbw/peers/mbw-1.2.2.yaml"
    change(checkout / file, setter("parser", "nmap"))
    with pytest.raises(BenchbookError) as refused:
        check(checkout, EXPERIMENT)
    assert f"{file}: key 'parser' is 'nmap'" in str(refused.value)
    assert "allowed: likwid_bench, mbw" in str(refused.value)
