"""core-clock, machine-state, absent-counter: clocks, temperatures and powers as tools of the
machine print them (turbostat, nvidia-smi, likwid-powermeter, RAPL)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import groupby

from benchbook.core.number_format import listed
from benchbook.explain.lazy_regex import late
from benchbook.explain.model import Report, Result
from benchbook.explain.rules import rule
from benchbook.explain.rules.common.findings import finding
from benchbook.findings import Finding

BUSY, IDLE = 90.0, 10.0  # per cent
BELOW = 0.85  # of the clock that the processor is made for
AT_LIMIT = 0.97
HOT_GPU, HOT_CPU = 90, 97  # °C
LEAST_SECONDS = 3  # of one device
FELL = 0.95  # of its clock
BUSY_POWER = 0.8  # of its limit: no idle GPU draws that
WARM = 80  # °C: makes it likely that the heat is why


@rule
def clocks_of_cpus(report: Report) -> Iterator[Finding | str]:
    """CPUs that worked below the clock that they are made for, or hardly worked, by turbostat."""
    if report.tool != "turbostat":
        return
    rows = [_Row(own) for own in _rows(report)]
    whole = [row for row in rows if row.of("Busy%") is not None and row.core is None]
    usual = next((row.of("TSC_MHz") for row in whole if row.of("TSC_MHz")), None)
    slow = [
        (row, clock, busy)
        for row in rows
        for clock, busy in [(row.of("Bzy_MHz"), row.of("Busy%"))]
        if usual and clock and busy and busy.value >= BUSY and clock.is_positive
        if clock.value < BELOW * usual.value
    ]
    if slow and usual:
        row, clock, busy = min(slow, key=lambda each: each[1].value)
        who = "All CPUs together" if row.core is None else f"CPU {row.core}"
        words = {"clock": clock, "busy": busy, "usual": usual, "who": who}
        words |= {"part": clock.value / usual.value, "power": _power(whole)}
        yield finding("busy-below-its-clock", words, about=[clock])
    shares = [share for row in whole if (share := row.of("Busy%"))]
    if shares and all(share.value < IDLE for share in shares):
        yield _of_idle(whole)
    stops = [own for row in whole if (own := row.of("SMI")) and own.value > 0]
    if stops:
        most = max(stops, key=lambda own: own.value)
        # Each CPU counts the same ones, and older turbostat adds them up in the row of all.
        of_cpus = [row.of("SMI") for row in rows if row.core is not None]
        highest = max((own.value for own in of_cpus if own), default=0.0)
        one = next((own for own in of_cpus if own and own.value == highest > 0), None)
        yield finding("firmware-interrupts", most=one or most, about=[one or most])
    limit, watts = report.facts.get("power_limit_w"), _power(whole)
    is_busy = any(share.value >= BUSY / 2 for share in shares)
    if limit and watts and is_busy and watts.value >= AT_LIMIT * limit:
        words = {"watts": watts, "limit": limit, "line": report.facts["power_limit_line"]}
        yield finding("package-at-limit", words, about=[watts])


def _of_idle(whole: Sequence[_Row]) -> str:
    """A note for a machine that hardly worked."""
    row = max(whole, key=lambda own: own.value_of("Busy%"))
    share, clock = row.of("Busy%"), row.of("Bzy_MHz")
    line = share.line if share else 0
    most = " at most" if len(whole) > 1 else ""
    text = f"line {line}: the CPUs were busy for {row.value_of('Busy%'):g} % of the time on average"
    text += most
    if clock is None:
        return text
    return f"{text}. So {clock.value:g} MHz is the clock of short moments, and not that of a load"


class _Row:
    """The figures of one line, by their names."""

    def __init__(self, results: Sequence[Result]) -> None:
        self.results = {result.name: result for result in results}
        self.core = results[0].of.get("core")

    def of(self, name: str) -> Result | None:
        """A figure of it; None where it has none of this name."""
        return self.results.get(name)

    def value_of(self, name: str) -> float:
        """The value of a figure of it; 0 where it has none of this name."""
        own = self.results.get(name)
        return own.value if own else 0.0


def _rows(report: Report) -> Iterator[list[Result]]:
    for _, several in groupby(report.results, key=lambda result: result.line):
        yield list(several)


def _power(whole: Sequence[_Row]) -> Result | None:
    powers = [own for row in whole if (own := row.of("PkgWatt")) and own.is_positive]
    return max(powers, key=lambda own: own.value) if powers else None


@rule
def device_at_limit(report: Report) -> Iterator[Finding | str]:
    """A GPU at its limit of power, with fewer lanes than it could have, or idle, by nvidia-smi."""
    if report.tool != "nvidia-smi" or not report.results:
        return
    rows = [_Row(own) for own in _rows(report)]
    for row in rows:
        draw, limit, busy = row.of("power"), row.of("power limit"), row.of("busy")
        works = busy is None or busy.value >= BUSY / 2
        if draw and limit and works and limit.is_positive and draw.value >= AT_LIMIT * limit.value:
            yield finding("device-at-limit", draw=draw, limit=limit, about=[draw])
            break
    for row in rows:
        lanes, most = row.of("PCIe lanes"), row.of("most PCIe lanes")
        if lanes and most and 0 < lanes.value < most.value:
            yield finding("fewer-lanes", lanes=lanes, most=most, about=[lanes])
            break
    errors = [own for row in rows if (own := row.of("uncorrected ECC errors")) and own.value > 0]
    if errors:
        yield finding("ecc-errors", errors=errors[0], about=errors)
    loads = [own for row in rows if (own := row.of("busy"))]
    at_work = any(
        draw.value >= BUSY_POWER * limit.value > 0
        for row in rows
        if (draw := row.of("power")) and (limit := row.of("power limit"))
    )
    if loads and not at_work and all(own.value == 0 for own in loads):
        yield (
            f"line {loads[0].line}: no GPU of this table works at this moment (0 %). Clocks, power "
            "and links may be those of an idle one"
        )


@rule
def clock_falls(report: Report) -> Iterator[Finding]:
    """A GPU that lowers its clock while it works all the time, by what is printed each second."""
    if report.tool != "nvidia-smi":
        return
    by_gpu: dict[object, list[_Row]] = {}
    for row in map(_Row, _rows(report)):
        busy, clock = row.of("busy"), row.of("clock")
        if busy and clock and clock.is_positive and busy.value >= BUSY:
            by_gpu.setdefault(clock.of.get("gpu", 0), []).append(row)
    for gpu, rows in by_gpu.items():
        clocks = [row.results["clock"] for row in rows]
        if len(rows) < LEAST_SECONDS or clocks[-1].value > FELL * clocks[0].value:
            continue
        warm = [own for row in rows if (own := row.of("temperature")) and own.value >= WARM]
        words = {
            "gpu": gpu,
            "begin": clocks[0],
            "end": clocks[-1],
            "hot": warm[-1] if warm else None,
        }
        words["part"] = 1 - clocks[-1].value / clocks[0].value
        yield finding("clock-falls", words, about=[clocks[-1]])
        break


@rule
def hot(report: Report) -> Iterator[Finding]:
    """A processor or GPU near the temperature at which it slows down."""
    degrees = [own for own in report.results if own.unit == "°C" and own.is_number]
    degrees = [own for own in degrees if not own.name.startswith("slowdown")]
    hottest = max(degrees, key=lambda own: own.value, default=None)
    if hottest is None:
        return
    least = HOT_CPU if report.tool == "turbostat" else HOT_GPU
    if least <= hottest.value < 150:
        gpu, core = hottest.of.get("gpu"), hottest.of.get("core")
        whose = f"GPU {gpu}" if gpu is not None else "The processor"
        whose = f"CPU {core}" if core is not None else whose
        whose = "The GPU" if report.tool == "nvidia-smi" and gpu is None else whose
        yield finding("hot", hottest=hottest, whose=whose, about=[hottest])


@rule
def no_such_meter(report: Report) -> Iterator[Finding | str]:
    """Domains of energy with 0 J: the processor has no such meter; and what the others are of."""
    if report.tool != "likwid-powermeter":
        return
    energies = [own for own in report.results if own.unit == "J"]
    none = [own for own in energies if own.value == 0]
    counted = [own for own in energies if own.is_positive]
    if none and counted:
        domains = list(dict.fromkeys(str(own.of.get("domain")) for own in none))
        words = {"domains": listed(domains), "first": none[0], "count": len(domains)}
        yield finding("no-such-meter", words, about=none)
    if counted:
        yield (
            f"line {counted[0].line}: these meters are of whole sockets. Whatever ran on a socket "
            "in that time is in its energy, and what the socket draws when it is idle"
        )


FAR_MORE, LEAST_W = 10.0, 100.0  # times the other; more than the modules of a socket draw
_OF_MEMORY = late(r"^(?:D(?:RAM|ram)) power$")


@rule
def memory_meter(report: Report) -> Iterator[Finding]:
    """A power of memory that is many times that of the other socket: a unit that does not fit."""
    powers = [own for own in report.results if _OF_MEMORY.match(own.name) and own.is_positive]
    if len(powers) < 2:
        return
    least, most = (pick(powers, key=lambda own: own.value) for pick in (min, max))
    if most.value >= max(LEAST_W, FAR_MORE * least.value):
        place = most.of.get("place")
        own = [
            each
            for each in report.results
            if each.name in ("Package power", "PKG power") and each.of.get("place") == place
        ]
        words = {"most": most, "least": least, "ratio": most.value / least.value}
        words |= {"place": place, "package": own[0] if own else None}
        yield finding("memory-meter", words, about=[most, least])


@rule
def energy_of_package(report: Report) -> Iterator[str]:
    """A note for energies that perf counted: they are of whole packages, by which power that is."""
    elapsed = report.only("time elapsed") if report.tool == "perf-stat" else None
    if elapsed is None or not elapsed.is_positive:
        return
    for own in report.results:
        if own.unit == "J" and own.name.startswith("power/energy-pkg") and own.is_positive:
            watts = own.value / (elapsed.base_value / 1e9)
            yield (
                f"line {own.line}: {own.value:g} J in {elapsed.value:g} s are {watts:.3g} W. That "
                "is the energy of all that ran on the machine, and of its idle cores"
            )
            return
