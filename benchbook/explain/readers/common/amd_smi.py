"""rocm-smi and amd-smi: clocks, temperatures, powers and states of AMD's GPUs."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from benchbook.explain.lazy_regex import late
from benchbook.explain.readers.common.line_reader import LineReader, Reading, Run

ROCM, AMD = "rocm-smi", "amd-smi"
_HEAD = late(r"^(?:GPU|Device)\s+.*\b(?:AvgPwr|Power|Pwr)\b.*\bSCLK\b.*\bMCLK\b")
_NUMBER = r"\d{1,5}(?:\.\d{1,4})?"
_CLOCKS = late(
    rf"(?P<power>{_NUMBER}) ?W\s.*?(?P<core>{_NUMBER}) ?M[Hh]z\s+(?P<memory>{_NUMBER}) ?M[Hh]z\s"
)
_GPU = late(r"^\s*(?P<gpu>\d{1,3})\s")
_HEAT = late(rf"\s(?P<heat>{_NUMBER}) ?\u00b0?[cC]\b")
_LEVEL = late(r"\s(?P<level>auto|manual|low|high|perf_determinism)\s")
_USE = late(r"(?P<use>\d{1,3})%\s*$")
_USE_LAST = late(r"\bGPU%\s*$")  # in its place older versions have overclocking, MCLK OD
_LINE = late(r"^GPU\[(?P<gpu>\d{1,3})\]\s*:\s*(?P<name>\S.{2,60}?)\s*:\s*(?P<value>\S.{0,60})$")
_OF_LINE = {
    "Temperature (Sensor edge) (C)": ("temperature", "°C"),
    "Temperature (Sensor junction) (C)": ("junction temperature", "°C"),
    "Temperature (Sensor mem) (C)": ("memory temperature", "°C"),
    "Temperature (Sensor memory) (C)": ("memory temperature", "°C"),
    "Temperature": ("temperature", "°C"), "GPU use (%)": ("busy", "%"),
    "Average Graphics Package Power (W)": ("power", "W"),
    "Current Socket Graphics Package Power (W)": ("power", "W"),
    "Max Graphics Package Power (W)": ("power limit", "W"),
    "GPU Memory Allocated (VRAM%)": ("memory used", "%"),
}  # fmt: skip
_OF_CLOCK = late(
    r"^(?P<what>[sm]clk|GPU|GPU Memory) [Cc]lock [Ll]evel$",
)
_IN_CLOCK = late(rf"\(?(?P<mhz>{_NUMBER}) ?M[Hh]z\)?")
_FIRST = late(rf"(?P<value>{_NUMBER})")


@dataclass
class _Run(Run):
    """One call; `rows` counts those of its table."""

    is_table: bool = False
    has_use: bool = False  # whether the last column of the table is how busy the GPU is
    levels: dict[int, str] = field(default_factory=dict)

    def finish(self) -> bool:
        """Say at which level of performance each GPU is."""
        if self.levels:
            self.facts["performance_levels"] = dict(self.levels)
        return bool(self.results)


def _rocm(reading: Reading[_Run], text: str) -> None:
    run = reading.run
    if _HEAD.match(text):
        run = reading.begin(is_table=True, has_use=bool(_USE_LAST.search(text)))
    elif run.is_table and (clocks := _CLOCKS.search(f"{text} ")) and (gpu := _GPU.match(text)):
        number = int(gpu["gpu"])
        of: dict[str, Any] = {"gpu": number}
        if heat := _HEAT.search(text):
            reading.add("temperature", heat["heat"], "°C", "sample", of)
        reading.add("power", clocks["power"], "W", "sample", of)
        reading.add("clock", clocks["core"], "MHz", "sample", of)
        reading.add("memory clock", clocks["memory"], "MHz", "sample", of)
        if run.has_use and (use := _USE.search(text)):
            reading.add("busy", use["use"], "%", "sample", of)
        if level := _LEVEL.search(f"{text} "):
            run.levels[number] = level["level"]
    elif found := _LINE.match(text):
        _of_gpu(reading, int(found["gpu"]), found["name"], found["value"])


def _of_gpu(reading: Reading[_Run], gpu: int, name: str, value: str) -> None:
    run, of = reading.run, {"gpu": gpu}
    if name in ("Performance Level", "Current Performance Level", "Current PowerPlay Level"):
        run.levels[gpu] = value
    elif named := _OF_LINE.get(name):
        if figure := _FIRST.match(value):
            reading.add(named[0], figure["value"], named[1], "sample", of)
    elif (clock := _OF_CLOCK.match(name)) and (mhz := _IN_CLOCK.search(value)):
        is_memory = clock["what"] in ("mclk", "GPU Memory")
        reading.add("memory clock" if is_memory else "clock", mhz["mhz"], "MHz", "sample", of)


_NEW = late(r"^GPU: (?P<gpu>\d{1,3})$")
_AMD = late(
    rf"^(?P<name>SOCKET_POWER|GFX_ACTIVITY|UMC_ACTIVITY|CLK|MAX_CLK|EDGE|HOTSPOT|MEM|USED_VRAM"
    rf"|TOTAL_VRAM): (?P<value>{_NUMBER}) (?P<unit>W|%|MHz|\u00b0C|MB)$"
)
_OF_AMD = {
    "SOCKET_POWER": "power", "GFX_ACTIVITY": "busy", "UMC_ACTIVITY": "memory busy",
    "EDGE": "temperature", "HOTSPOT": "hotspot temperature", "MEM": "memory temperature",
    "USED_VRAM": "memory used", "TOTAL_VRAM": "memory",
}  # fmt: skip
_OF_DOMAIN = {
    ("GFX_0", "CLK"): "clock", ("GFX_0", "MAX_CLK"): "highest clock",
    ("MEM_0", "CLK"): "memory clock", ("MEM_0", "MAX_CLK"): "highest memory clock",
}  # fmt: skip
_DOMAIN = late(r"^(?P<domain>(?:GFX|MEM|VCLK|DCLK|SOC|FCLK)_\d{1,2}):$")


@dataclass
class _Amd(Run):
    """What it says of one GPU; `domain` is that of the clocks that follow."""

    gpu: int = 0
    domain: str = ""


def _amd(reading: Reading[_Amd], text: str) -> None:
    run = reading.run
    if found := _NEW.match(text):
        reading.begin(gpu=int(found["gpu"]))
    elif found := _DOMAIN.match(text):
        run.domain = found["domain"]
    elif found := _AMD.match(text):
        name = _OF_DOMAIN.get((run.domain, found["name"])) or _OF_AMD.get(found["name"])
        if name:
            reading.add(name, found["value"], found["unit"], "sample", {"gpu": run.gpu})


read_rocm_smi = LineReader(ROCM, _Run, _rocm)
read_amd_smi = LineReader(AMD, _Amd, _amd)
