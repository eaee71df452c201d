"""Small programs that stand for large ones, and print a few lines: LULESH, XSBench, RSBench, and
tf_cnn_benchmarks."""

from __future__ import annotations

from benchbook.explain.lazy_regex import late
from benchbook.explain.model import Log, Report
from benchbook.explain.readers.common.line_reader import LineReader, Reading, Run

TOOL = "lulesh"
_N = r"\d{1,15}(?:\.\d{1,9})?(?:[eE][-+]?\d{1,3})?"
_FACT = late(r"^(?P<name>Problem size|MPI tasks|Iteration count) +=\s+(?P<count>\d{1,12})$")
_FACTS = {"Problem size": "problem_size", "MPI tasks": "processes", "Iteration count": "cycles"}
_ELAPSED = late(rf"^Elapsed time +=\s+(?P<time>{_N}) \(s\)$")
_GRIND = late(
    rf"^Grind time \(us/z/c\) +=\s+(?P<dom>{_N}) \(per dom\)\s+\( ?(?P<all>{_N}) overall\)$"
)
_FOM = late(rf"^FOM +=\s+(?P<rate>{_N}) \(z/s\)$")


class _Lulesh(Run):
    """One run of LULESH."""

    def finish(self) -> bool:
        """Its figure of merit is what it is known by."""
        return any(own.unit == "zones/s" for own in self.results)


def _lulesh(reading: Reading[_Lulesh], text: str) -> None:
    if text.startswith("Run completed"):
        reading.begin()
    elif found := _FACT.match(text):
        reading.run.facts[_FACTS[found["name"]]] = int(found["count"])
    elif found := _ELAPSED.match(text):
        if any(own.name == "time elapsed" for own in reading.run.results):
            reading.begin()
        reading.show("time elapsed", float(found["time"]), "s")
    elif found := _GRIND.match(text):
        reading.show("time of a zone and cycle", float(found["dom"]), "us", "of a domain")
        reading.show("time of a zone and cycle", float(found["all"]), "us", "overall")
    elif found := _FOM.match(text):
        reading.show("figure of merit", float(found["rate"]), "zones/s")


_LOOKED_UP = late(
    r"^(?P<name>Runtime|Lookups|Lookups/s|Threads|MPI ranks):\s+"
    r"(?P<value>\d[\d,]{0,20}(?:\.\d{1,9})?)(?: (?P<unit>seconds))?$"
)


class _Lookups(Run):
    """One run of XSBench or RSBench."""

    def finish(self) -> bool:
        """Its rate is what it is known by."""
        return any(own.unit == "lookups/s" for own in self.results)


def _lookups(reading: Reading[_Lookups], text: str) -> None:
    if (found := _LOOKED_UP.match(text)) is None:
        return
    name, value = found["name"], float(found["value"].replace(",", ""))
    if name == "Threads":
        reading.begin(facts={"threads": int(value)})
    elif name == "Runtime" and found["unit"]:
        if any(own.name == "time" for own in reading.run.results):
            reading.begin()
        reading.show("time", value, "s")
    elif name == "Lookups/s":
        reading.show("lookups", value, "lookups/s")


_STEP = late(
    rf"^(?P<step>\d{{1,7}})\s+images/sec: (?P<rate>{_N}) \+/- (?P<error>{_N}) \(jitter = {_N}\)"
)
_IMAGES = late(rf"^total images/sec: (?P<rate>{_N})$")
_MODEL = late(r"^Model: +(?P<model>[\w.-]{1,40})$")
_BATCH = late(r"^Batch size: +(?P<count>\d{1,7}) global$")


class _Images(Run):
    """One training of tf_cnn_benchmarks."""

    def finish(self) -> bool:
        """Its rates are what it is known by."""
        return bool(self.results)


def _images(reading: Reading[_Images], text: str) -> None:
    run = reading.run
    if found := _MODEL.match(text):
        reading.begin(facts={"model": found["model"]})
    elif found := _BATCH.match(text):
        run.facts["batch_size"] = int(found["count"])
    elif found := _STEP.match(text):
        of = {"step": int(found["step"])}
        reading.show("rate of the step", float(found["rate"]), "images/s", "", of)
    elif found := _IMAGES.match(text):
        reading.show("rate", float(found["rate"]), "images/s", "total")


_READERS = (
    ("Grind time", LineReader("lulesh", _Lulesh, _lulesh)),
    ("total images/sec", LineReader("tf_cnn_benchmarks", _Images, _images)),
)
_OF_XSBENCH = LineReader("xsbench", _Lookups, _lookups)
_OF_RSBENCH = LineReader("rsbench", _Lookups, _lookups)


def read(log: Log) -> list[Report]:
    """One report for each run of each of the programs."""
    reports = [report for word, reader in _READERS if log.has(word) for report in reader(log)]
    if log.has("Lookups/s:"):
        lookups = _OF_RSBENCH(log) if log.has("RSBench") else _OF_XSBENCH(log)
        if not (log.has("RSBench") or log.has("XSBench")):
            for report in lookups:
                report.facts["printed_by"] = "XSBench or RSBench"
        reports += lookups
    return reports
