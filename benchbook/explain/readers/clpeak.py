"""clpeak: bandwidths of a device's memory and of transfers to it, rates of arithmetic; as text, as
XML and as JSON."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from benchbook.explain.lazy_regex import late
from benchbook.explain.model import Document, Line, Log, Report, Result
from benchbook.explain.printed_digits import is_number, printed_lines

TOOL = "clpeak"
LOOKS_FOR = "clpeak: `Global memory bandwidth (GBPS)`, `enqueueWriteBuffer : 12.3`"
WORDS = ("(GBPS)", "(GFLOPS)", "(GIOPS)", "Kernel launch latency", "bandwidth (GB/s)")
WORDS += ("<clpeak ", "clpeak/run")
# Version 2 numbers both, and has other interfaces than OpenCL, of which each begins anew.
_DEVICE = late(r"^\s*(?:Vulkan |CUDA |Metal )?Device(?: \d{1,3})?: (?P<name>.*\S)\s*$")
_PLATFORM = late(r"^\s*Platform(?: \d{1,3})?: (?P<name>.*\S)\s*$")
_BACKEND = late(r"^ *(?:Backend: \w|=== \w+ backend ===)")
_UNITS = {
    "GBPS": "GB/s", "GB/s": "GB/s", "GFLOPS": "Gflop/s", "TFLOPS": "Tflop/s", "GIOPS": "Gop/s",
    "GOPS": "Gop/s", "TOPS": "Top/s", "us": "us", "µs": "us", "ns": "ns",
}  # fmt: skip
_UNIT = "|".join(_UNITS)
_TOKENS = {name.lower(): unit for name, unit in _UNITS.items()}
# An element of XML in a line: <run>, <platform>, <device>, <test>, a title of version 1, a figure.
_ELEMENT = late(
    r'^\s*<(?P<tag>\w+)(?P<attributes>(?: \w+="[^"<>]*")*) ?>(?:(?P<value>[^<>]*)</\w+>)?\s*$'
)
_ATTRIBUTE = late(r' (\w+)="([^"]*)"')
_QUANTITIES = {
    "flops": "flop/s", "ops": "op/s", "bytes_per_second": "B/s", "seconds": "s",
}  # fmt: skip
# Old versions began the one of half precision with a small letter.
_TITLE = late(
    rf"^\s*(?P<name>(?:[A-Z]|half-)[^:]{{0,120}}?) ?\((?P<unit>{_UNIT})\)(?: +\(continued\))?\s*$"
)
# Tables of other tools have these units too.
_OF_OTHERS = ("GB/s", "us", "µs", "ns")
_QUANTITY = late(r"(?:bandwidth|latency)(?: \[[^]]{0,40}\])?\s*$")
_OTHER_TITLE = late(r"^\s*[A-Z][^:]{0,120}\([A-Za-z]\w{0,9}(?:/s)?\)\s*$")
_NAME = late(r"[A-Za-z][\w() /.:,+*-]{0,80}")
_VALUE = late(
    rf"(?P<value>-?[\d.,]+|-?nan|-?inf)(?: (?P<unit>{_UNIT}))?(?: +\(was [^()]{{0,80}}\))?"
)
_LAUNCH = late(r"^\s*Kernel launch latency : (?P<value>-?[\d.,]+) us")
_WAYS = {
    "enqueuewritebuffer": "host to device", "enqueuereadbuffer": "device to host",
    "h2d": "host to device", "d2h": "device to host",
}  # fmt: skip
# What all rows under a title have in common.
_TYPE = late(
    "(?P<float>float)|(?P<half>half)|(?P<double>double)|(?P<int>int)|(?P<char>char)"
    "|(?P<short>short)|(?P<transfer>enqueue|memcpy)"
)
_MAPPED = ("enqueuemapbuffer", "enqueueunmap")
_MEMORIES = frozenset(("pinned", "pageable"))


@dataclass
class _Run:
    """One device."""

    line: int
    results: list[Result] = field(default_factory=list)
    facts: dict[str, Any] = field(default_factory=dict)
    is_xml: bool = False
    title: str = ""
    unit: str = ""
    indented: int = 0  # columns before the title, then before the first row under it
    rows: int = 0
    labels: dict[str, None] = field(default_factory=dict)  # of the rows under the title


def read(log: Log) -> list[Report]:
    """One report for each device."""
    runs, platform = [_Run(1)], ""
    for line in printed_lines(log):
        run, text = runs[-1], line.text
        if not text or text.isspace():
            continue
        if text.lstrip().startswith("<"):
            platform = _element(log, runs, line, platform)
        elif _BACKEND.match(text):
            platform, run.title = "", ""
        elif ": " in text:
            if found := _PLATFORM.match(text):
                platform, run.title = found["name"], ""
            elif found := _DEVICE.match(text):
                facts = {"device": found["name"], "platform": platform}
                runs.append(_Run(line.number, facts=facts))
            elif found := _LAUNCH.match(text):
                value = log.number(found["value"])
                if value is not None:
                    run.results.append(Result("kernel launch", value, "us", line.number, "mean"))
            elif run.title:
                _row(log, run, line)
        elif found := _TITLE.match(text):
            known = found["unit"] not in _OF_OTHERS or _QUANTITY.search(found["name"])
            run.title, run.unit = found["name"].strip() if known else "", _UNITS[found["unit"]]
            run.indented, run.rows, run.labels = _indent(text), 0, {}
        elif _OTHER_TITLE.match(text) or (run.rows and _indent(text) < run.indented):
            run.title = ""  # rows may follow that it did not print, or in another unit
    texts = [Report(TOOL, one.results, one.line, "", one.facts) for one in runs if one.results]
    return [*texts, *(one for document in log.documents for one in _json(document))]


def _element(log: Log, runs: list[_Run], line: Line, platform: str) -> str:
    """An element of its XML; the platform from here on."""
    found = _ELEMENT.match(line.text)
    if line.text.lstrip().startswith("<clpeak "):
        runs.append(_Run(line.number, is_xml=True))
    if found is None or not runs[-1].is_xml:
        if not line.text.lstrip().startswith("<metric"):
            runs[-1].title = ""  # the end of a test, or one that cannot be read
        return platform
    tag, run, known = found["tag"], runs[-1], dict(_ATTRIBUTE.findall(found["attributes"]))
    value = log.number(found["value"]) if found["value"] else None
    if tag == "platform":
        return str(known.get("name", ""))
    if tag in ("run", "device"):
        platform = known.get("platform", platform)
        facts = {"device": known.get("device") or known.get("name", ""), "platform": platform}
        runs.append(_Run(line.number, facts=facts, is_xml=True))
    elif "unit" in known:
        words = known.get("display") or known.get("name") or tag
        run.title, run.unit = words.replace("_", " "), _TOKENS.get(known["unit"], known["unit"])
        if value is not None:
            run.results.append(Result(run.title, value, run.unit, line.number, "mean"))
    elif value is not None and run.title:
        label = known.get("name", tag)
        of = _of(label)
        run.results.append(
            Result(f"{run.title}: {label}", value, run.unit, line.number, "mean", of)
        )
    return platform


def _json(document: Document) -> Iterator[Report]:
    """One report for each device of a run."""
    body = document.value
    if not isinstance(body, dict) or body.get("schema") != "clpeak/run":
        return
    version = str(body.get("clpeak_version", ""))
    notes = [] if document.whole else ["its JSON is cut: what follows is missing"]
    for device in _objects(body, "devices"):
        facts = {"device": str(device.get("name", "")), "platform": str(device.get("platform", ""))}
        results = [
            Result(f"{test.get('title')}: {metric.get('id')}", metric["value"], unit,
                   document.places.get(id(metric), document.number), "mean",
                   _of(str(metric.get("id"))))
            for test in _objects(device, "tests")
            for metric in _objects(test, "metrics")
            if is_number(metric.get("value"))
            for own in [metric if "unit" in metric else test]
            for unit in [_QUANTITIES.get(str(own.get("quantity")), str(own.get("unit", "")))]
        ]  # fmt: skip
        if results:
            line = document.places.get(id(device), document.number)
            yield Report(TOOL, results, line, version, facts, list(notes))


def _objects(value: dict[str, Any], name: str) -> list[dict[str, Any]]:
    several = value.get(name)
    return [one for one in several if isinstance(one, dict)] if isinstance(several, list) else []


def _indent(text: str) -> int:
    return len(text) - len(text.lstrip())


def _row(log: Log, run: _Run, line: Line) -> None:
    """A row; what has a colon otherwise, or stands further left, is none."""
    label, _, printed = line.text.rpartition(": ")
    label, indent = label.strip(), _indent(line.text)
    found = _VALUE.fullmatch(printed.strip()) if _NAME.fullmatch(label) else None
    value = log.number(found["value"]) if found else None
    if found is None or value is None or indent < run.indented:
        return
    if _is_of_other(run.labels, label):
        run.title = ""  # which was cut out of the log
        return
    run.labels[label] = None
    if not run.rows:
        run.indented = indent
    run.rows += 1
    unit = _UNITS[found["unit"]] if found["unit"] else run.unit
    of = _of(label)
    run.results.append(Result(f"{run.title}: {label}", value, unit, line.number, "mean", of))


def _is_of_other(labels: dict[str, None], label: str) -> bool:
    """Whether a row is of another title than those: it is there already, or of another type."""
    types = [_TYPE.match(one) for one in (next(iter(labels), label), label)]
    return label in labels or (all(types) and len({one.lastgroup for one in types if one}) > 1)


def _of(label: str) -> dict[str, Any]:
    """What the name of a transfer tells."""
    words = re.split(r"[ _]", label.lower())
    of: dict[str, Any] = {}
    if way := _WAYS.get(words[0]):
        of["direction"] = way
        for memory in _MEMORIES.intersection(words):
            of["host_memory"] = memory
    if words[0].startswith(_MAPPED):
        of["zero_copy"] = True
    return of
