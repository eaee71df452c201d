"""glmark2, vkmark, glxgears and vkpeak: frame rates of scenes, and rates of arithmetic of a device.

They are read where no benchmark with a reader of its own was.
"""

from __future__ import annotations

from dataclasses import dataclass

from benchbook.explain.lazy_regex import late
from benchbook.explain.model import Log, Report
from benchbook.explain.readers.common.line_reader import LineReader, Reading, Run

LOOKS_FOR = {
    "glmark2": "glmark2, vkmark: `[build] use-vbo=false: FPS: 23 FrameTime: 44.918 ms`",
    "glxgears": "glxgears: `300 frames in 5.0 seconds = 59.9 FPS`",
    "vkpeak": "vkpeak: `fp32-scalar  = 8536.18 GFLOPS`",
}
_BEGIN = late(r"^(?P<tool>glmark2|vkmark) (?P<version>20\d\d[\w.-]*)$")
_RENDERER = late(r"^(?:GL_RENDERER|Device Name):\s+(?P<name>\S.{0,120})$")
_DRIVER = late(r"^(?:GL_VERSION|Driver Version):\s+(?P<version>\S.{0,120})$")
_SCENE = late(
    r"^\[(?P<scene>[\w-]{2,30})\] (?P<options>\S.{0,160}?): FPS: (?P<fps>\d{1,7}) "
    r"FrameTime: (?P<time>\d{1,7}(?:\.\d{1,4})?) ms$"
)
_SCORE = late(r"^(?P<tool>glmark2|vkmark) Score: (?P<score>\d{1,7})$")


@dataclass
class _Marks(Run):
    """One start of glmark2 or vkmark."""

    tool: str = "glmark2"

    def report(self, tool: str) -> Report:
        """What it printed, under its own name."""
        del tool
        line = self.line or self.results[0].line
        return Report(self.tool, self.results, line, self.version, self.facts)


def _mark(reading: Reading[_Marks], text: str) -> None:
    run = reading.run
    if found := _BEGIN.match(text):
        reading.begin(version=found["version"], tool=found["tool"])
    elif found := _RENDERER.match(text):
        run.facts["device"] = found["name"]
    elif found := _DRIVER.match(text):
        run.facts["driver_version"] = found["version"]
    elif found := _SCENE.match(text):
        of = {"benchmark": f"{found['scene']} {found['options']}"}
        reading.add(f"{found['scene']} rate", found["fps"], "frames/s", "mean", of)
        reading.add(f"{found['scene']} frame time", found["time"], "ms", "mean", of)
    elif found := _SCORE.match(text):
        run.tool = found["tool"]
        reading.add("score", found["score"], "points", "", {})


_GEARS = late(
    r"^(?P<frames>\d{1,9}) frames in (?P<time>\d{1,4}(?:\.\d{1,3})?) seconds = "
    r"(?P<fps>\d{1,9}(?:\.\d{1,4})?) FPS$"
)
_SYNCHRONISED = "Running synchronized to the vertical refresh"


def _gear(reading: Reading[Run], text: str) -> None:
    if text.startswith(_SYNCHRONISED):
        reading.begin(facts={"refresh_line": reading.line.number})
    elif found := _GEARS.match(text):
        reading.add("frame rate", found["fps"], "frames/s", "mean", {})
        reading.add("frames", found["frames"], "frames", "", {})


_DEVICE = late(r"^device\s+= (?P<name>\S.{0,100})$")
_PEAK = late(
    r"^(?P<name>(?:fp|int|bf)\d{1,2}-[a-z0-9]{3,12}|copy-[hd]2[hd])\s+= "
    r"(?P<value>\d{1,9}(?:\.\d{1,3})?) (?P<unit>GFLOPS|GIOPS|GBPS)$"
)
_UNITS = {"GFLOPS": "Gflop/s", "GIOPS": "Gop/s", "GBPS": "GB/s"}


def _peak(reading: Reading[Run], text: str) -> None:
    run = reading.run
    if found := _DEVICE.match(text):
        reading.begin(facts={"device": found["name"]})
    elif found := _PEAK.match(text):
        if float(found["value"]) == 0:
            own: dict[str, int] = run.facts.setdefault("not_run", {})
            own[found["name"]] = reading.line.number
            run.facts.setdefault("not_run_line", reading.line.number)
            return
        reading.add(found["name"], found["value"], _UNITS[found["unit"]], "best", {})


_marks = LineReader("glmark2", _Marks, _mark)
_gears = LineReader("glxgears", Run, _gear)
_peaks = LineReader("vkpeak", Run, _peak)


def read(log: Log) -> list[Report]:
    """One report for each start of one of these programs."""
    every: list[Report] = []
    if any(map(log.has, ("FrameTime:", "Score:"))):
        every += _marks(log)
    if log.has(" frames in "):
        every += _gears(log)
    if any(map(log.has, ("GFLOPS", "GIOPS"))):
        every += _peaks(log)
    return sorted(every, key=lambda report: report.line)
