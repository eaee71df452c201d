"""elbencho: files, requests and bytes of each operation, when the first and the last thread end."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from benchbook.explain.lazy_regex import late
from benchbook.explain.readers.common.line_reader import LineReader, Reading, Run
from benchbook.explain.readers.common.load_lines import NUMBER, TIME

TOOL = "elbencho"
_COMMAND = late(r"\belbencho[\w.:-]{0,40} (?P<words>-.*)$")
_THREADS = late(r"(?:^|\s)(?:-t ?|--threads[= ])(?P<count>\d{1,5})(?=\s|$)")
_DEPTH = late(r"(?:^|\s)--iodepth[= ](?P<count>\d{1,5})(?=\s|$)")
_OTHERS = late(r"(?:^|\s)--hosts")
_HEAD = late(r"^OPERATION +RESULT TYPE +FIRST DONE +LAST DONE$")
_ROW = late(
    r"^(?:(?P<operation>[A-Z]{3,12}) +)?(?P<what>Elapsed (?:ms|time)|IOPS|Files/s|Dirs/s|Entries/s|"
    r"Throughput M(?:i?B)/s) +: +(?P<first>\S+) +(?P<last>\S+)$"
)
_LATENCY = late(
    rf"^(?:IO|File|Files|Entries|Dirs) lat(?:ency)?(?: us)? +: \[ min=(?P<min>{NUMBER})(?:us)? "
    rf"avg=(?P<mean>{NUMBER})(?:us)? max=(?P<max>{NUMBER})(?:us)? \]"
)
_NAMES = {
    "IOPS": ("operation rate", "operations/s"), "Files/s": ("file rate", "files/s"),
    "Dirs/s": ("directory rate", "directories/s"), "Entries/s": ("entry rate", "files/s"),
    "Throughput MiB/s": ("throughput", "MiB/s"), "Throughput MB/s": ("throughput", "MB/s"),
}  # fmt: skip
_NO_TEST = ("DROPCACHE", "SYNC")


@dataclass
class _Run(Run):
    """One operation."""

    of_table: bool = False
    asked: dict[str, Any] = field(default_factory=dict)


def _line(reading: Reading[_Run], text: str) -> None:
    run = reading.run
    if "elbencho" in text and (found := _COMMAND.search(text)):
        reading.begin(asked=_asked(found["words"]))
    elif _HEAD.match(text):
        run = reading.begin(of_table=True, asked=run.asked)
    elif run.of_table and (found := _ROW.match(text)):
        if found["operation"]:
            facts = {"operation": found["operation"].lower(), **run.asked}
            run = reading.begin(facts=facts, of_table=True, asked=run.asked)
        operation = run.facts.get("operation", "")
        if operation.upper() in _NO_TEST:
            return
        if found["what"] == "Elapsed ms" and found["last"].isdecimal():
            run.facts["elapsed_s"] = int(found["last"]) / 1e3
        elif found["what"] in _NAMES:
            name, unit = _NAMES[found["what"]]
            reading.add(f"{operation} {name}", found["last"], unit, "mean")
            if found["first"] != found["last"]:
                of: dict[str, Any] = {"end": "first thread"}
                reading.add(f"{operation} {name}", found["first"], unit, "first", of)
    elif run.of_table and run.facts and (found := _LATENCY.match(text)):
        for statistic in ("min", "mean", "max"):
            reading.add(f"{run.facts['operation']} {TIME}", found[statistic], "us", statistic)


def _asked(words: str) -> dict[str, Any]:
    """How many threads and requests a command has: one each where it names none and is readable."""
    if _OTHERS.search(words) or "$" in words:
        return {}
    counts = {"threads": _THREADS.search(words), "queue_depth": _DEPTH.search(words)}
    return {name: int(found["count"]) if found else 1 for name, found in counts.items()}


read = LineReader(TOOL, _Run, _line)
