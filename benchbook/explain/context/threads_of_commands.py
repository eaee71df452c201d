"""How many threads or processes a command line asks for, and what it is without that number."""

from __future__ import annotations

from benchbook.explain.lazy_regex import late
from benchbook.explain.model import Log, Report

TOOLS = ("time", "hyperfine", "perf-stat")
_OPTIONS = (
    r"(?:OMP|MKL|OPENBLAS|NUMBA|BLIS|RAYON)_NUM_THREADS=|GOMAXPROCS="
    r"|\w{2,20}_(?:THREADS|CONCURRENCY)=|--?(?:threads|nthreads|num[_-]threads|jobs|nproc)[= ]"
    r"|-[jT] ?|-np "
)
_ASKED = late(rf"(?:^|(?<=\s))(?:{_OPTIONS})(?P<count>\d{{1,4}})(?=$|[\s;'\"])")
# What was set before the program that times or counts.
_SET = late(
    r"(?:^|(?<=\s))(?:(?:OMP|MKL|OPENBLAS|RAYON|JULIA)_NUM_THREADS|GOMAXPROCS)=(?P<count>\d{1,4})"
    r"(?=$|\s)"
)
_IN_WORDS = late(r"(?:^|[\s(,_-])(?P<count>\d{1,4})[ _-]?(?:threads?|jobs)\b", 2)
_LONGEST = 2000  # characters of a command
# What works elsewhere: its own CPU time is not that of the work.
ELSEWHERE = late(
    r"^(?:sudo )?(?:\S*/)?(?:docker|podman|kubectl|ssh|mpirun|mpiexec|srun|salloc|sbatch|oc|wsl"
    r"|systemd-run|nerdctl|curl|wget)(?:\.exe)? "
)


def command_of(report: Report) -> str:
    """The command that was timed or counted; "" where the log has none."""
    return str(report.facts.get("command") or report.facts.get("program") or "")


_SAID_ABOVE = late(r"\b(?:OMP|MKL|OPENBLAS)_NUM_THREADS ?[=:] ?(?P<count>\d{1,4})\b")
_OF_TEXT = ("figures", "text")
_NEAR, _MOST = 2, 100  # lines from such a setting to the figures; of these, blocks


def _tell_said_above(log: Log, reports: list[Report]) -> None:
    """Give blocks of figures the threads that a line right above each of them sets."""
    blocks = [report for report in reports if report.tool in _OF_TEXT]
    if not 1 < len(blocks) <= _MOST or any("threads" in own.facts for own in blocks):
        return
    counts = {
        line.number: int(found["count"])
        for line in log.having("NUM_THREADS")
        if (found := _SAID_ABOVE.search(line.text[:_LONGEST]))
    }
    above = [
        next((counts[own.line - far] for far in range(1, _NEAR + 1) if own.line - far in counts), 0)
        for own in blocks
    ]
    if all(above):
        for own, count in zip(blocks, above, strict=True):
            own.facts["threads"] = count


def tell(log: Log, reports: list[Report]) -> None:
    """Give reports of timed commands the threads that these name, and the rest as their setting."""
    _tell_said_above(log, reports)
    for report in reports:
        command = command_of(report)
        if report.tool not in TOOLS or not command or len(command) > _LONGEST:
            continue
        names = (f"parameter {name}" for name in ("threads", "cores"))
        parameter = next((report.facts[name] for name in names if name in report.facts), None)
        found = _ASKED.search(command) or _IN_WORDS.search(command)
        set_before = _SET.search(" ".join(report.asked)[:_LONGEST])
        if parameter is not None and str(parameter).isdecimal():
            report.facts.setdefault("threads", int(str(parameter)))
        elif found and int(found["count"]) > 0:
            report.facts.setdefault("threads", int(found["count"]))
        elif set_before and report.tool != "hyperfine" and int(set_before["count"]) > 0:
            report.facts.setdefault("threads", int(set_before["count"]))
        if report.tool == "hyperfine" and "threads" in report.facts:
            rest = command
            if found:
                rest = command[: found.start("count")] + command[found.end("count") :]
            report.facts["setting"] = rest
