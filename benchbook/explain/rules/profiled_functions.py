"""where-the-time-went: functions of a profile by pprof or cProfile that are no work of the program:
memory, collecting it, the profiler itself, and files."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from benchbook.explain.lazy_regex import late
from benchbook.explain.model import Report, Result
from benchbook.explain.rules import rule
from benchbook.explain.rules.common.findings import finding
from benchbook.findings import Finding

GO, PYTHON = "pprof", "cProfile"
_WITH_CALLS = " share with calls"
_PROFILED = late(r"^runtime\.(?:mProf_Malloc|profilealloc|stkbucket|setprofilebucket|addspecial)\b")
# What the functions below one of these cost is theirs; from which share on a kind is worth a word.
_OF_PROFILER = "profiles-allocations"
_GO_KINDS = (
    (_OF_PROFILER, 30.0, late(r"^runtime\.(?:mProf_Malloc|callers|gentraceback|profilealloc)\b")),
    ("collects-memory", 20.0, late(r"^runtime\.(?:gcBgMarkWorker|gcDrain|gcAssistAlloc)\b")),
    ("gets-memory", 10.0, late(r"^runtime\.(?:mallocgc|newobject|growslice|makeslice)\b")),
    ("waits-for-work", 30.0, late(r"^runtime\.(?:findrunnable|findRunnable|schedule|mcall)\b")),
    ("calls-the-kernel", 30.0, late(
        r"^(?:internal/runtime/)?(?:syscall|runtime)[./](?:syscall\.)?(?:Raw)?Syscall6?\b"
    )),
)  # fmt: skip


@rule
def functions_of_go(reports: Sequence[Report]) -> Iterator[Finding]:
    """What the runtime of Go does for itself, by the largest share with what it calls; the profiler
    instead of the allocation that it watches."""
    shares = [
        own
        for report in reports
        if report.tool == GO
        for own in report.results
        if own.name.endswith(_WITH_CALLS) and own.unit == "%" and own.value <= 100
    ]
    is_profiled = any(_PROFILED.search(own.of["benchmark"]) for own in shares)
    told = set[str]()
    for kind, least, functions in _GO_KINDS:
        found = [own for own in shares if functions.search(own.of["benchmark"])]
        most = max(found, key=lambda own: own.value, default=None)
        if most is None or most.value < least:
            continue
        if (kind == _OF_PROFILER and not is_profiled) or (
            kind == "gets-memory" and _OF_PROFILER in told
        ):
            continue
        told.add(kind)
        yield finding(kind, {"most": most, "function": most.of["benchmark"]}, about=[most])


LEAST_S, LARGE = 0.2, 0.4  # of the profile
_FILES = late(
    r"^\{built-in method (?:posix|nt|io|_io)\.(?:l?stat|open|open_code|listdir|scandir|read)\}"
    r"|^\{(?:method|built-in method) '?(?:read|readinto|close|write|flush|readline)'? of '_io\."
    r"|\(get_data\)$"
)
_WAITS = late(
    r"^\{built-in method (?:time\.sleep|select\.\w+)\}"
    r"|^\{method '(?:poll|select|acquire|recv|recv_into|read|accept|connect)' of "
    r"'(?:select\.|_thread\.|_socket\.|_ssl\.)"
)
_NAMED = late(r"stat\}|open|listdir|scandir|get_data")  # which are of files, and not of pipes
_PYTHON_KINDS = (("works-on-files", _FILES, _NAMED), ("waits-outside", _WAITS, _WAITS))


@rule
def functions_of_python(reports: Sequence[Report]) -> Iterator[Finding]:
    """Own times of built-in functions that read files or wait, together against the whole time."""
    for report in reports:
        whole = report.only("time in all")
        if report.tool != PYTHON or whole is None or whole.value < LEAST_S:
            continue
        own_times = [own for own in report.results if own.name.endswith(" own time")]
        for kind, functions, certain in _PYTHON_KINDS:
            found = [own for own in own_times if functions.search(str(own.of["benchmark"]))]
            both = _sum(found)
            is_sure = any(certain.search(own.of["benchmark"]) for own in found)
            if is_sure and LARGE * whole.value <= both <= 1.02 * whole.value:
                most = max(found, key=lambda own: own.value)
                words = {"most": most, "function": most.of["benchmark"], "whole": whole}
                words |= {"all": both, "count": len(found), "share": both / whole.value}
                words["left"] = len(found) - 1 or None
                yield finding(kind, words, about=[most])


def _sum(several: Sequence[Result]) -> float:
    return sum(own.value for own in several)
