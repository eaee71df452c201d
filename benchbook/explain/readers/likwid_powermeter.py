"""likwid-powermeter: the energy and the power of each domain of each socket."""

from __future__ import annotations

from dataclasses import dataclass, field

from benchbook.explain.lazy_regex import late
from benchbook.explain.readers.common.line_reader import LineReader, Reading, Run
from benchbook.explain.readers.common.relations import Printed, printed, product

TOOL = "likwid-powermeter"
_TIME = late(r"^Runtime: (?P<value>\d[\d.e+-]*) s$")
_SOCKET = late(
    r"^(?:Measure for socket|Socket) (?P<socket>\d{1,3})(?: on (?:CPU|HWThread) \d+)?:?$"
)
_DOMAIN = late(r"^Domain (?P<domain>\w+):$")
_FIGURE = late(r"^(?P<what>Energy|Power) consumed: (?P<value>\d[\d.e+-]*) (?:Joules|Watts?)$")


@dataclass
class _Run(Run):
    """One start; the socket and the domain of the lines that follow."""

    socket: int = 0
    domain: str = "PKG"
    printed: dict[str, Printed] = field(default_factory=dict)


def _line(reading: Reading[_Run], text: str) -> None:
    run = reading.run
    if found := _TIME.match(text):
        run = reading.begin()
        value = reading.number(found["value"])
        if value is not None and reading.add("run time", value, "s"):
            own = printed("the run time", value, found["value"], reading.line.number)
            run.printed = {"time": own}
    elif found := _SOCKET.match(text):
        run.socket = int(found["socket"])
    elif found := _DOMAIN.match(text):
        run.domain = found["domain"]
    elif found := _FIGURE.match(text):
        _figure(reading, found["what"], found["value"])


def _figure(reading: Reading[_Run], what: str, text: str) -> None:
    run, value = reading.run, reading.number(text)
    if value is None:
        return
    of = {"place": f"socket {run.socket}", "domain": run.domain}
    if value == 0:
        of |= {"state": "absent", "reason": "0"}
    name = f"{run.domain} {what.lower()}"
    reading.add(name, value, "J" if what == "Energy" else "W", "", of)
    run.printed[what] = printed(f"{name} of socket {run.socket}", value, text, reading.line.number)
    if what == "Power":
        run.twice += product(run.printed, "Power", ["Energy"], ["time"], unit="W")


read = LineReader(TOOL, _Run, _line)
