"""gpu-burn: the rate, errors and temperature of each GPU while it runs, and its verdicts."""

from __future__ import annotations

from dataclasses import dataclass, field

from benchbook.explain.lazy_regex import late
from benchbook.explain.model import Report
from benchbook.explain.printed_digits import only
from benchbook.explain.readers.common.line_reader import LineReader, Reading, Run

TOOL = "gpu-burn"
_ASKED = late(r"Burning for (?P<seconds>\d{1,9}) sec|^[\s#$]*(?:\S*/)?gpu_burn\b")
_NAMED = late(r"^GPU (?P<number>\d{1,3}): (?P<name>\S.{0,80}?)\s*(?:\(UUID: \S+\))?$")
_STARTED = late(
    r"Initialized device (?P<number>\d{1,3}) with (?P<memory>\d{1,9}) MB .{0,120}"
    r"using (?P<kind>FLOATS|DOUBLES|FP\d+|HALVES)"
)
# Several stand in a line where carriage returns were lost.
_PROGRESS = late(r"(?P<done>\d{1,3}(?:\.\d)?)%\s+proc'd:")
_DEGREES = late(r"[-\d C]{1,1500}")
_RATE = late(r"(?P<count>-?\d{1,12}) \((?P<rate>\d{1,9}(?:\.\d+)?) Gflop/s\)")
_ERRORS = late(r"(?P<count>-?\d{1,12})(?P<died>\s*\(DIED!\))?(?P<warned>\s*\(WARNING!\))?")
_TEMPERATURE = late(r"(?P<degrees>\d{1,3}) C|--")
_VERDICT = late(r"^GPU (?P<number>\d{1,3}): (?P<verdict>OK|FAULTY)$")
_NOT_STARTED = "Couldn't init a GPU test"


@dataclass
class _Run(Run):
    """One start."""

    names: dict[int, str] = field(default_factory=dict)
    memories: dict[int, int] = field(default_factory=dict)
    is_started: bool = False  # whether a device says that it is ready

    def finish(self) -> bool:
        """Say which devices they are; that it did nothing is a result too."""
        if self.names:
            name = only(set(self.names.values()))
            self.facts |= {"device": name} if name else {"device_names": dict(self.names)}
            self.facts["devices"] = len(self.names)
        if self.memories:
            self.facts["device_memory_mb"] = dict(self.memories)
        self.line = self.line or (self.results[0].line if self.results else 0)
        return bool(self.results or (self.is_started and self.line))

    def report(self, tool: str) -> Report:
        """What it printed, which may be no figure at all."""
        own = self.results, self.line, self.version, self.facts, self.notes, self.twice
        return Report(tool, *own)


def _line(reading: Reading[_Run], text: str) -> None:
    run, number = reading.run, reading.line.number
    if "proc'd:" in text:
        starts = list(_PROGRESS.finditer(text))
        ends = [*(start.start() for start in starts[1:]), len(text)]
        for start, end in zip(starts, ends, strict=False):
            _progress(reading, float(start["done"]), text[start.end() : end])
    elif found := _VERDICT.match(text):
        run.facts.setdefault("verdict_line", number)
        faulty = run.facts.setdefault("faulty", [])
        if found["verdict"] == "FAULTY":
            faulty.append(int(found["number"]))
    elif found := _NAMED.match(text):
        if run.results or int(found["number"]) in run.names:
            run = reading.begin()
        run.line = run.line or number
        run.names[int(found["number"])] = found["name"]
    elif found := _STARTED.search(text):
        run.is_started = True
        run.line = run.line or number
        run.memories[int(found["number"])] = int(found["memory"])
        run.facts["precision"] = "double" if found["kind"] == "DOUBLES" else "single"
    elif _NOT_STARTED in text:
        run.facts.setdefault("not_started_line", number)
    elif found := _ASKED.search(text):
        if run.results:
            run = reading.begin()
        run.line = run.line or number
        if found["seconds"]:
            run.facts["asked_s"] = int(found["seconds"])


def _progress(reading: Reading[_Run], done: float, text: str) -> None:
    """What one line says of each GPU, in its order: rate, errors, temperature."""
    run, number = reading.run, reading.line.number
    rates, _, rest = text.partition("errors:")
    errors, _, temperatures = rest.partition("temps:")
    for gpu, rate in enumerate(_RATE.finditer(rates)):
        if int(rate["count"]) < 0:
            run.facts.setdefault("died", {}).setdefault(gpu, number)
        of = {"gpu": gpu, "done_percent": done}
        reading.add(f"GPU {gpu} rate", rate["rate"], "Gflop/s", "sample", of)
    for gpu, count in enumerate(_ERRORS.finditer(errors)):
        if count["died"]:
            run.facts.setdefault("died", {}).setdefault(gpu, number)
        elif count["warned"] or int(count["count"]) != 0:
            run.facts.setdefault("wrong", {}).setdefault(gpu, number)
        of = {"gpu": gpu, "done_percent": done}
        reading.add(f"GPU {gpu} errors", float(count["count"]), "errors", "sample", of)
    degrees = _DEGREES.match(temperatures)
    for gpu, own in enumerate(_TEMPERATURE.finditer(degrees[0] if degrees else "")):
        of = {"gpu": gpu, "done_percent": done}
        if own["degrees"]:
            reading.add(f"GPU {gpu} temperature", float(own["degrees"]), "°C", "sample", of)


read = LineReader(TOOL, _Run, _line)
