"""Rates of models as their programs log them: llama.cpp's timings, DeepSpeed's samples a second,
Megatron's iterations, and MXNet's speeds.

They are read where no benchmark with a reader of its own was.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any

from benchbook.explain.lazy_regex import late
from benchbook.explain.model import Log, Report
from benchbook.explain.readers.common import unit_tables
from benchbook.explain.readers.common.line_reader import LineReader, Reading, Run

LOOKS_FOR = {
    "llama.cpp": "llama.cpp: `eval time = 10721.79 ms / 249 tokens (43.06 ms per token, …)`",
    "deepspeed": "DeepSpeed: `CurrSamplesPerSec=157.8, MemAllocated=1.75GB`",
    "megatron": "Megatron: `elapsed time per iteration (ms): 5361.6 | …`",
    "training-speed": "MXNet and others: `Batch [20-40]  Speed: 112.84 samples/sec`",
}
_N = r"\d{1,12}(?:\.\d{1,20})?"
_TIMING = late(
    rf"(?P<name>load|sample|sampling|prompt eval|eval|total)(?: time)?\s*=\s*(?P<time>{_N}) ms"
    rf"(?: /\s*(?P<count>\d{{1,9}})\s+(?P<of>tokens|runs))?"
    rf"(?:\s*\(\s*(?P<each>{_N}|inf|-?nan) ms per token"
    rf"(?:,\s*(?P<rate>{_N}|inf|-?nan) tokens per second)?)?"
)


@dataclass
class _Request(Run):
    """The timings of one request or start."""

    last: str = ""


def _timing(reading: Reading[_Request], text: str) -> None:
    if "time" not in text or (found := _TIMING.search(text)) is None:
        return
    name = {"sampling": "sample"}.get(found["name"], found["name"])
    counted = "tokens" if found["of"] == "tokens" else "calls"
    of: dict[str, Any] = {counted: int(found["count"])} if found["count"] else {}
    known = {own.name for own in reading.run.results}
    # Loading and sampling come first: behind the total they are of another run.
    if f"{name} time" in known or (name in ("load", "sample") and "total time" in known):
        reading.begin()
    reading.add(f"{name} time", found["time"], "ms", "total", of)
    if found["each"] and not found["rate"] and found["each"][0].isdecimal():  # of older versions
        reading.add(f"{name} time per token", found["each"], "ms", "mean", of)
    if found["rate"] and found["rate"] not in ("inf", "nan", "-nan"):
        reading.add(f"{name} rate", found["rate"], "tokens/s", "mean", of)


_CURRENT = late(rf"\bCurrSamplesPerSec=(?P<rate>{_N})")
_AVERAGE = late(rf"\b(?:RunningAvg)?SamplesPerSec=(?P<rate>{_N})")
_ALLOCATED = late(rf"\bMaxMemAllocated=(?P<size>{_N})GB")


def _speed(reading: Reading[Run], text: str) -> None:
    if "SamplesPerSec=" not in text:
        return
    if found := _AVERAGE.search(text):
        reading.add("rate so far", found["rate"], "samples/s", "mean", {})
    if found := _CURRENT.search(text):
        reading.add("rate", found["rate"], "samples/s", "sample", {})
    if found := _ALLOCATED.search(text):
        reading.add("most memory", found["size"], "GB", "max", {})


_ITERATION = late(
    r"\biteration\s+(?P<number>\d{1,9})/\s*\d{1,9} \|.{0,200}?"
    rf"elapsed time per iteration \(ms\): (?P<time>{_N})"
)
_THROUGHPUT = late(rf"(?:throughput per GPU \(TFLOP/s/GPU\)|TFLOPs(?: per GPU)?): (?P<rate>{_N})")
_BATCH = late(r"global batch size:\s*(?P<size>\d{1,9})\b")


def _iteration(reading: Reading[Run], text: str) -> None:
    if (found := _ITERATION.search(text)) is None:
        return
    of: dict[str, Any] = {"interval": int(found["number"])}
    if size := _BATCH.search(text):
        reading.run.facts["batch_size"] = int(size["size"])
    reading.add("iteration time", found["time"], "ms", "sample", of)
    if rate := _THROUGHPUT.search(text):
        reading.add("rate of each GPU", rate["rate"], "Tflop/s", "sample", of)


_SPEED = late(rf"\bSpeed: ?(?P<rate>{_N}) ?(?P<what>samples|images|tokens)/s(?:ec)?\b")
_DEVICES = late(
    r"^(?:(?:with|on|using) )?(?P<count>\d{1,3}) ?x? ?(?:GPUs?|devices?|cards?):?$", re.I
)


@dataclass
class _Training(Run):
    """The speeds of one start; a line above may say on how many devices."""


def _training(reading: Reading[_Training], text: str) -> None:
    if found := _DEVICES.match(text):
        reading.begin(facts={"devices": int(found["count"])})
    elif "Speed:" in text and (found := _SPEED.search(text)):
        of = {"repetition": len(reading.run.results)}
        reading.add("speed", found["rate"], f"{found['what']}/s", "sample", of)


_timings = LineReader("llama.cpp", _Request, _timing)
_speeds = LineReader("deepspeed", Run, _speed)
_iterations = LineReader("megatron", Run, _iteration)
_trainings = LineReader("training-speed", _Training, _training)


def read(log: Log) -> list[Report]:
    """One report for each request or run; a table next to timings of llama.cpp is of its bench."""
    every: list[Report] = []
    if log.has("tokens per second") or log.has("ms per token"):
        every += _timings(log)
        every += unit_tables.read(log) if every else []
    if log.has("SamplesPerSec="):
        every += _speeds(log)
    if log.has("elapsed time per iteration"):
        every += _iterations(log)
    if log.has("Speed:"):
        every += _trainings(log)
    return sorted(every, key=lambda report: report.line)
