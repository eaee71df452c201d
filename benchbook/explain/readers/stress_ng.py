"""stress-ng: the table of --metrics and --metrics-brief, and rates of single stressors."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from benchbook.explain.lazy_regex import late
from benchbook.explain.readers.common.line_reader import LineReader, Reading, Run

TOOL = "stress-ng"
# Each line begins with the program, a level and the process; a log of such lines alone lost them.
_LINE = late(
    r"^(?:.{0,60}\bstress-ng: +)?(?:\d\d:\d\d:\d\d(?:\.\d+)? )?(?:(?:info|metrc): +)?"
    r"(?P<process>\[\d{1,9}\] +)?(?P<rest>\S.{0,200})$"
)
_HEAD = late(r"^stressor +bogo ops +real time")
_NUMBER = r"\d{1,15}(?:\.\d{1,4})?"
_ROW = late(
    rf"^(?P<stressor>[a-z][\w-]{{0,30}})\s+(?P<ops>\d{{1,18}})\s+(?P<real>{_NUMBER})\s+"
    rf"(?P<user>{_NUMBER})\s+(?P<kernel>{_NUMBER})\s+(?P<rate>{_NUMBER})\s+(?P<cpu_rate>{_NUMBER})"
    rf"(?:\s+(?P<used>{_NUMBER}))?(?:\s+(?P<rss>\d{{1,12}}))?$"
)
_OWN = late(
    rf"^(?P<stressor>[a-z][\w-]{{0,30}})\s+(?P<value>{_NUMBER}) (?P<what>[A-Za-z].{{2,60}}?)"
    r"(?: \((?:harmonic|geometric) mean of (?P<of>\d{1,5}) instances?\))?$"
)
_HOGS = late(r"\bdispatching hogs: (?P<hogs>\d.{0,200})$")
_HOG = late(r"(?P<count>\d{1,5}) (?P<stressor>[a-z][\w-]{0,30})")
_COMPLETED = late(r"\bsuccessful run completed in (?P<time>\d{1,9}(?:\.\d{1,4})?) ?s")
_PER_SECOND = late(r"(?P<what>.{2,50}?) (?:per sec(?:ond)?|/sec)$")
_RATES = {"MB": "MB/s", "GB": "GB/s", "KB": "kB/s"}


@dataclass
class _Run(Run):
    """The table of one start."""

    has_head: bool = False
    hogs: dict[str, int] = field(default_factory=dict)


def _line(reading: Reading[_Run], text: str) -> None:
    if not (line := _LINE.match(text)):
        return
    run, rest = reading.run, line["rest"].strip()
    if found := _HOGS.search(rest):
        run = reading.begin() if run.results else run
        run.hogs = {hog["stressor"]: int(hog["count"]) for hog in _HOG.finditer(found["hogs"])}
    elif _HEAD.match(rest):
        run = reading.begin() if run.results else run
        run.has_head = True
        run.line = run.line or reading.line.number
    elif not run.has_head and not line["process"]:
        return
    elif found := _ROW.match(rest):
        name = found["stressor"]
        of: dict[str, Any] = {"test": name}
        of |= {"processes": run.hogs[name]} if name in run.hogs else {}
        run.line = run.line or reading.line.number
        reading.add(f"{name} operations", found["ops"], "operations", "", of)
        reading.add(f"{name} time", found["real"], "s", "", of)
        reading.add(f"{name} user time", found["user"], "s", "", of)
        reading.add(f"{name} system time", found["kernel"], "s", "", of)
        reading.add(f"{name} rate", found["rate"], "operations/s", "", of)
        reading.add(f"{name} rate by CPU time", found["cpu_rate"], "operations/s", "", of)
        if found["used"]:
            reading.add(f"{name} CPU used by each", found["used"], "%", "", of)
        if found["rss"]:
            reading.show(f"{name} resident at most", found["rss"], "KiB", of=of)
    elif found := _COMPLETED.search(rest):
        run.facts["runtime_s"] = float(found["time"])
    elif found := _OWN.match(rest):
        rate = _PER_SECOND.match(found["what"])
        if rate is None:
            return
        what = rate["what"]
        unit = _RATES.get(what.split()[0], "operations/s")
        reading.add(f"{found['stressor']}: {what}", found["value"], unit, "", {"test": what})


read = LineReader(TOOL, _Run, _line)
