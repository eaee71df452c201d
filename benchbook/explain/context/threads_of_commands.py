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


def tell(log: Log, reports: list[Report]) -> None:
    """Give reports of timed commands the threads that these name, and the rest as their setting."""
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
