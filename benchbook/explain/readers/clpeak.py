"""clpeak: bandwidths of a device's memory and of transfers to it, rates of arithmetic; as text, as
XML and as JSON."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from benchbook.explain.lazy_regex import late
from benchbook.explain.model import Document, Log, Report, Result
from benchbook.explain.printed_digits import is_number
from benchbook.explain.readers.common.json_values import at, objects_at
from benchbook.explain.readers.common.line_reader import LineReader, Reading, Run

TOOL = "clpeak"
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
    rf"^\s*(?P<name>(?:[A-Z]|half-|one[A-Z])[^:]{{0,120}}?) ?\((?P<unit>{_UNIT})\)"
    r"(?: +\(continued\))?\s*$"
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
# What the device has: version 2 says CUs.
_UNITS_OF_DEVICE = late(
    r"^\s*(?:Compute units|CUs)\s*: (?P<units>\d{1,5})\s*$"
    r"|^\s*Clock frequency\s*: (?P<mhz>\d{2,5}) MHz\s*$"
)
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
class _Run(Run):
    """One device."""

    line: int = 1
    platform: str = ""  # of the devices that follow
    is_xml: bool = False
    title: str = ""
    unit: str = ""
    indented: int = 0  # columns before the title, then before the first row under it
    rows: int = 0
    labels: dict[str, None] = field(default_factory=dict)  # of the rows under the title

    def finish(self) -> bool:
        """Whether it has figures, or names figures that it could not measure."""
        return bool(self.results or "unmeasured" in self.facts)

    def report(self, tool: str) -> Report:
        """What it printed, which may be nothing but failures."""
        own = self.results, self.line, self.version, self.facts, self.notes, self.twice
        return Report(tool, *own)


def read(log: Log) -> list[Report]:
    """One report for each device."""
    return [*_READER(log), *(report for document in log.documents for report in _json(document))]


def _line(reading: Reading[_Run], text: str) -> None:
    run = reading.run
    if text.lstrip().startswith("<"):
        _element(reading, text)
    elif _BACKEND.match(text):
        run.platform = run.title = ""
    elif ": " in text:
        if found := _PLATFORM.match(text):
            run.platform, run.title = found["name"], ""
        elif found := _DEVICE.match(text):
            _device(reading, found["name"], run.platform, is_xml=False)
        elif found := _UNITS_OF_DEVICE.match(text):
            name = "compute_units" if found["units"] else "clock_mhz"
            run.facts[name] = int(found["units"] or found["mhz"])
        elif found := _LAUNCH.match(text):
            reading.add("kernel launch", found["value"], "us", "mean")
        elif run.title:
            _row(reading, text)
    elif found := _TITLE.match(text):
        is_own = found["unit"] not in _OF_OTHERS or _QUANTITY.search(found["name"])
        run.title, run.unit = found["name"].strip() if is_own else "", _UNITS[found["unit"]]
        run.indented, run.rows, run.labels = _indent(text), 0, {}
    elif _OTHER_TITLE.match(text) or (run.rows and _indent(text) < run.indented):
        run.title = ""  # rows may follow that it did not print, or in another unit


def _device(reading: Reading[_Run], device: str, platform: str, *, is_xml: bool) -> None:
    facts = {"device": device, "platform": platform}
    reading.begin(facts=facts, platform=platform, is_xml=is_xml)


def _element(reading: Reading[_Run], text: str) -> None:
    """An element of its XML."""
    found = _ELEMENT.match(text)
    if text.lstrip().startswith("<clpeak "):
        reading.begin(is_xml=True, platform=reading.run.platform)
    run = reading.run
    if found is None or not run.is_xml:
        if not text.lstrip().startswith("<metric"):
            run.title = ""  # the end of a test, or one that cannot be read
        return
    tag: str = found["tag"]
    attributes: dict[str, str] = dict(_ATTRIBUTE.findall(found["attributes"]))
    name = attributes.get("name")
    if tag == "platform":
        run.platform = name or ""
    elif tag in ("run", "device"):
        platform = attributes.get("platform", run.platform)
        _device(reading, attributes.get("device") or name or "", platform, is_xml=True)
    elif "unit" in attributes:
        run.title = (attributes.get("display") or name or tag).replace("_", " ")
        run.unit = _TOKENS.get(attributes["unit"], attributes["unit"])
        reading.add(run.title, found["value"], run.unit, "mean")
    elif run.title:
        label = attributes.get("name", tag)
        reading.add(f"{run.title}: {label}", found["value"], run.unit, "mean", _of(label))


def _json(document: Document) -> Iterator[Report]:
    """One report for each device of a run."""
    body = document.value
    if at(body, "schema") != "clpeak/run":
        return
    version = str(body.get("clpeak_version", ""))
    notes = [] if document.whole else [f"its JSON is cut: {document.cut}"]
    for device in objects_at(body, "devices"):
        facts = {"device": str(device.get("name", "")), "platform": str(device.get("platform", ""))}
        results = [
            Result(f"{test.get('title')}: {metric.get('id')}", metric["value"], unit,
                   document.line_of(metric), "mean",
                   _of(str(metric.get("id"))))
            for test in objects_at(device, "tests")
            for metric in objects_at(test, "metrics")
            if is_number(metric.get("value"))
            for own in [metric if "unit" in metric else test]
            for unit in [_QUANTITIES.get(str(own.get("quantity")), str(own.get("unit", "")))]
        ]  # fmt: skip
        if results:
            line = document.line_of(device)
            yield Report(TOOL, results, line, version, facts, list(notes))


def _indent(text: str) -> int:
    return len(text) - len(text.lstrip())


def _row(reading: Reading[_Run], text: str) -> None:
    """A row; what has a colon otherwise, or stands further left, is none."""
    run = reading.run
    label, _, printed = text.rpartition(": ")
    label, indent = label.strip(), _indent(text)
    found = _VALUE.fullmatch(printed.strip()) if _NAME.fullmatch(label) else None
    value = reading.number(found["value"]) if found else None
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
    if not is_number(value) or value == 0:  # its error stands elsewhere, and no rate was measured
        run.facts["unmeasured"] = run.facts.get("unmeasured", 0) + 1
        run.facts.setdefault("unmeasured_line", reading.line.number)
        return
    reading.add(f"{run.title}: {label}", value, unit, "mean", _of(label))


_READER = LineReader(TOOL, _Run, _line, clean=str.rstrip)


def _is_of_other(labels: dict[str, None], label: str) -> bool:
    """Whether a row is of another title than those: it is there already, or of another type."""
    types = [_TYPE.match(text) for text in (next(iter(labels), label), label)]
    return label in labels or (
        all(types) and len({found.lastgroup for found in types if found}) > 1
    )


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
