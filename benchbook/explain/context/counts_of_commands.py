"""Options of commands that a tool also prints the count of: what it has in its output."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import NamedTuple

from benchbook.explain.model import Report, Result
from benchbook.explain.printed_digits import is_number
from benchbook.explain.readers.common.load_lines import COUNT

Counted = tuple[float, Result | None]
_SAME, _MOST = True, False


class Setting(NamedTuple):
    """An option and what the output says of it: just that count, or no more than it."""

    tools: tuple[str, ...]  # of reports; of all where there are none
    programs: tuple[str, ...]
    options: tuple[str, ...]
    what: str
    counted: Callable[[Report], Counted | None]
    is_same: bool = _SAME
    unless: tuple[str, ...] = ()  # other options that change what it means
    is_first: bool = False  # a program of its own follows: only the first word is certain


def _fact(name: str) -> Callable[[Report], Counted | None]:
    def counted(report: Report) -> Counted | None:
        value = report.facts.get(name)
        if not is_number(value) or report.facts.get("is_count_made"):
            return None
        return value, None

    return counted


def _largest(*names: str) -> Callable[[Report], Counted | None]:
    """The largest figure of the first of these names that there is."""

    def counted(report: Report) -> Counted | None:
        several = next(filter(None, map(report.called, names)), ())
        own = max(filter(_is_count, several), key=lambda result: result.value, default=None)
        return (own.value, own) if own else None

    return counted


def _answers(report: Report) -> Counted | None:
    """The requests, or all answers by status."""
    answers = [own for own in report.called("responses") if _is_count(own)]
    if (requests := _largest(COUNT)(report)) or not answers:
        return requests
    return sum(own.value for own in answers), answers[0]


def _is_count(result: Result) -> bool:
    return result.is_number


def _each_thread(report: Report) -> Counted | None:
    clients, threads = (report.facts.get(name) for name in ("concurrency", "threads"))
    if not is_number(clients) or not is_number(threads) or not threads:
        return None
    return clients / threads, None


def _repetitions(report: Report) -> Counted | None:
    """How many runs the figures are of, where all say the same."""
    several = {own.of.get("repetitions"): own for own in report.knowing("repetitions")}
    first, own = next(iter(several.items()), (None, None))
    return (first, own) if len(several) == 1 and is_number(first) else None


_REDIS, _SQL = ("redis-benchmark",), ("pgbench",)
_LOADS = ("hey", "oha", "boom", "ghz")
STREAMS = Setting(
    ("iperf", "iperf3"), ("iperf", "iperf3"), ("-P", "--parallel"), "streams",
    _fact("streams"), _MOST, ("-d", "-r", "--bidir", "--full-duplex", "-s", "--server"),
)  # fmt: skip
SETTINGS = (
    Setting(
        ("h2load",), ("h2load",), ("-n", "--requests"), "requests", _answers, _MOST,
        ("-D", "--duration", "--timing-script-file"),
    ),
    Setting(
        ("h2load",), ("h2load",), ("-c", "--clients"), "clients", _fact("connections"), _MOST
    ),
    Setting(
        ("hey",), _LOADS, ("-n", "--total"), "requests", _answers, _MOST, ("-z", "--duration")
    ),
    Setting(("ab",), ("ab",), ("-n",), "requests", _answers, _MOST, ("-t",)),
    Setting(("ab",), ("ab",), ("-c",), "requests at a time", _fact("concurrency")),
    Setting(("wrk",), ("wrk", "wrk2"), ("-t", "--threads"), "threads", _fact("threads")),
    Setting(
        ("wrk",), ("wrk", "wrk2"), ("-c", "--connections"), "connections", _fact("concurrency")
    ),
    Setting(_REDIS, _REDIS, ("-n",), "requests", _largest(COUNT), _MOST),
    Setting(_REDIS, _REDIS, ("-c",), "clients", _fact("concurrency")),
    Setting(_REDIS, _REDIS, ("-d",), "bytes in a request", _fact("request_bytes")),
    Setting(
        ("memtier",), ("memtier_benchmark",), ("-t", "--threads"), "threads", _fact("threads")
    ),
    Setting(
        ("memtier",), ("memtier_benchmark",), ("-c", "--clients"), "clients of a thread",
        _each_thread,
    ),
    Setting(
        ("memtier",), ("memtier_benchmark",), ("-n", "--requests"), "requests of a client",
        _fact("requests_of_each"), _MOST,
    ),
    Setting(_SQL, _SQL, ("-c", "--client"), "clients", _fact("concurrency")),
    Setting(_SQL, _SQL, ("-j", "--jobs"), "threads", _fact("threads"), _MOST),
    Setting(
        _SQL, _SQL, ("-t", "--transactions"), "transactions of a client",
        _largest("transactions of each client"),
    ),
    Setting(
        ("sysbench",), ("sysbench",), ("--threads", "--num-threads"), "threads", _fact("threads")
    ),
    Setting(
        ("sysbench",), ("sysbench",), ("--events", "--max-requests"), "events", _fact("events"),
        _MOST,
    ),
    Setting(
        ("ping",), ("ping", "ping6"), ("-c",), "packets", _largest("packets sent"), _MOST, ("-w",)
    ),
    Setting(
        ("hyperfine",), ("hyperfine",), ("-r", "--runs"), "runs", _repetitions, _SAME,
        ("-m", "-M", "--min-runs", "--max-runs"),
    ),
    Setting(
        ("kafka-perf",), ("kafka-producer-perf-test.sh", "kafka-producer-perf-test"),
        ("--num-records",), "records", _largest(COUNT), _MOST,
    ),
    STREAMS,
    Setting(
        ("fio",), ("fio",), ("--iodepth", "-iodepth"), "requests at a time", _fact("queue_depth")
    ),
    Setting(
        ("fio",), ("fio",), ("--numjobs", "-numjobs"), "processes", _fact("processes"), _MOST
    ),
    Setting(("ioping",), ("ioping",), ("-c",), "requests", _fact("requests_made"), _MOST),
    Setting(
        ("rados-bench",), ("rados",), ("-t", "--concurrent-ios"), "requests at a time",
        _fact("concurrency"),
    ),
    Setting(("iozone",), ("iozone",), ("-t",), "processes", _fact("processes"), _MOST),
    Setting(
        (), ("mpirun", "mpiexec", "mpiexec.hydra", "srun"), ("-np", "-n", "--np", "--ntasks"),
        "processes", _fact("processes"), _MOST, (":",), is_first=True,
    ),
)  # fmt: skip


@cache
def settings_of(tool: str) -> list[Setting]:
    """Those that reports of a tool may have."""
    return [own for own in SETTINGS if not own.tools or tool in own.tools]
