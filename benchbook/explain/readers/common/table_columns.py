"""What the columns of a table are of: units in their heads, counts of threads or processes, times
without a unit, and settings of a row."""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import lru_cache
from typing import NamedTuple

from benchbook.explain.lazy_regex import late

UNSTATED = "units of time"  # of a time whose table has no unit
LEAST_COLUMNS, LONGEST_LABEL = 2, 80
KEPT = 4096  # heads, and words of lines that may be some: each comes again in every row
UNITS = {
    "ns": "ns", "us": "us", "µs": "us", "usec": "us", "usec/xfer": "us", "ms": "ms", "msec": "ms",
    "s": "s", "sec": "s", "secs": "s", "seconds": "s", "%": "%",
    "B/s": "B/s", "kB/s": "kB/s", "KB/s": "kB/s", "MB/s": "MB/s", "GB/s": "GB/s", "TB/s": "TB/s",
    "KiB/s": "KiB/s", "MiB/s": "MiB/s", "GiB/s": "GiB/s", "kbit/s": "kbit/s", "Mbit/s": "Mbit/s",
    "Gbit/s": "Gbit/s", "Mb/s": "Mbit/s", "Gb/s": "Gbit/s", "Mbps": "Mbit/s", "Gbps": "Gbit/s",
    "MBps": "MB/s", "GBps": "GB/s", "MB/sec": "MB/s", "GB/sec": "GB/s", "ns/op": "ns",
    "us/op": "us", "ms/op": "ms", "ops/s": "operations/s", "op/s": "operations/s",
    "OP/s": "operations/s", "TPS": "transactions/s", "tps": "transactions/s",
    "ops/sec": "operations/s", "IOPS": "operations/s", "req/s": "requests/s",
    "GFLOPS": "Gflop/s", "GFLOP/s": "Gflop/s", "GFlops": "Gflop/s", "MFLOPS": "Mflop/s",
    "TFLOPS": "Tflop/s", "TFLOP/s": "Tflop/s", "tok/s": "tokens/s", "tokens/s": "tokens/s",
    "tokens/sec": "tokens/s", "t/s": "tokens/s", "q/s": "queries/s", "QPS": "queries/s",
    "qps": "queries/s", "RPS": "requests/s", "rps": "requests/s", "req/sec": "requests/s",
    "fps": "frames/s", "FPS": "frames/s", "it/s": "iterations/s", "rows/s": "rows/s",
    "iter/s": "iterations/s", "MiB/sec": "MiB/s", "GiB/sec": "GiB/s", "events/s": "events/s",
    "eps": "events/s",
    "GFlop/s": "Gflop/s", "Gflop/s": "Gflop/s", "Gflops": "Gflop/s", "Mop/s": "Mop/s",
    "H/s": "hashes/s", "kH/s": "khashes/s",
    "requests/s": "requests/s", "requests/sec": "requests/s", "Requests/sec": "requests/s",
    "Requests/s": "requests/s", "Req/s": "requests/s", "reqs/s": "requests/s",
    "msg/s": "messages/s", "msgs/s": "messages/s", "docs/s": "documents/s",
    "records/s": "records/s", "records/sec": "records/s",
    "ns/iter": "ns", "us/iter": "us", "µs/iter": "us", "ms/iter": "ms", "ms/t": "ms",
    "KByte/s": "kB/s", "MByte/s": "MB/s", "GByte/s": "GB/s", "MBytes/s": "MB/s",
    "GBytes/s": "GB/s", "Kbytes/s": "kB/s", "Mbytes/s": "MB/s", "Gbytes/s": "GB/s",
    "MBytes/sec": "MB/s", "GBytes/sec": "GB/s", "Mbytes/sec": "MB/s", "Gbytes/sec": "GB/s",
    "KOperations/s": "kops/s",
    "pps": "packets/s", "PPS": "packets/s", "iops": "operations/s", "Iops": "operations/s",
    "MBit/s": "Mbit/s", "GBit/s": "Gbit/s", "KBit/s": "kbit/s", "Mbits/s": "Mbit/s",
    "Gbits/s": "Gbit/s", "Mbits/sec": "Mbit/s", "Gbits/sec": "Gbit/s", "Mbit/sec": "Mbit/s",
    "Gbit/sec": "Gbit/s",
    "ms/token": "ms", "μs": "us", "Mops/s": "Mops/s", "Kops/s": "kops/s", "kops/s": "kops/s",
    "samples/s": "samples/s", "samples/sec": "samples/s", "sample/s": "samples/s",
    "sample/sec": "samples/s", "images/s": "images/s", "images/sec": "images/s",
    "img/s": "images/s", "img/sec": "images/s", "steps/s": "steps/s", "steps/sec": "steps/s",
    "timesteps/s": "timesteps/s", "ns/day": "ns/day", "tokens/second": "tokens/s",
}  # fmt: skip
UNIT = "|".join(re.escape(unit) for unit in sorted(UNITS, key=len, reverse=True))
_SPACED = "|".join(re.escape(unit) for unit in UNITS if len(unit) > 1)  # `total GB/s`, no `per s`
_AS_FIRST = "|".join(
    re.escape(unit)
    for unit, own in UNITS.items()
    if own.endswith(("B/s", "bit/s")) or own == "tokens/s"
)
_IN_HEAD = late(
    rf"[(\[] ?(?P<unit>{UNIT}) ?[)\]]|(?:^|, ?| in |_)(?P<bare>{UNIT})$"
    rf"|^(?P<first>{_AS_FIRST}) ?(?=[(\[][^()\[\]]{{1,40}}[)\]]$)"
    rf"|(?<=[\w).] )(?P<spaced>{_SPACED})$|(?<=[A-Z]) (?P<of_time>s)$"
    r"|(?<=[Tt]ime|ency|tion)/(?P<after>ns|us|µs|ms|s)$"
)
# Columns that count what a figure is of, by their heads.
_COUNTED = {
    "threads": "threads", "thread": "threads", "nthreads": "threads", "cores": "threads",
    "core": "threads", "cpus": "threads", "vcpus": "threads", "cpu cores": "threads",
    "omp threads": "threads", "workers": "threads", "ncores": "threads", "ncpus": "threads",
    "openmp threads": "threads", "ngpus": "devices",
    "gcds": "devices", "nranks": "processes", "ntasks": "processes",
    "compute nodes": "nodes", "hosts": "nodes",
    "processes": "processes", "procs": "processes", "ranks": "processes", "np": "processes",
    "nprocs": "processes", "mpi ranks": "processes", "tasks": "processes",
    "mpi process": "processes", "mpi tasks": "processes",
    "mpi processes": "processes", "gpus": "devices", "devices": "devices", "streams": "streams",
    "connections": "streams", "queue depth": "queue_depth", "qd": "queue_depth",
    "iodepth": "queue_depth", "io depth": "queue_depth", "depth": "queue_depth",
    "clients": "concurrency", "users": "concurrency", "concurrency": "concurrency",
    "vus": "concurrency", "runs": "repetitions", "samples": "repetitions",
    "requests": "repetitions", "rounds": "repetitions",
}  # fmt: skip
_OF_WORK = ("threads", "processes", "devices", "streams", "nodes")  # more of them change the time
_COUNT_WORDS = late(
    r"^(?:#|no\.? of|nr\.? of|number of|num|omp num|total)[ _]?|[ _](?:count|number|num)$|^n_"
)
_WITH_COUNT = late(
    r"(?:(?P<count>\d{1,4})[ -]?(?P<what>threads?|cores?|cpus?|vcpus?|process(?:es)?|procs?"
    r"|ranks|gpus?|T)|(?P<named>threads?|cores|np|nprocs|ranks|procs) ?[=:] ?(?P<number>\d{1,4}))",
    re.I,
)
# Times of programs that nobody needs to give a unit to say that more of it is slower.
_BARE_TIME = late(
    r"(?:(?:wall|real|elapsed|execution|average|avg|mean|total|run|parallel|sequential|serial|user"
    r"|sys|system|cpu|wall[ -]clock|computation)[ -]?)*(?:times?|runtime|elapsed|walltime)",
    re.I,
)
_SECONDS = late(r"[\w).\]] s")  # how the head of a column of seconds may end, with decimals below
_DECIMAL = late(r"\d{1,9}\.\d{1,9}")
_OF_SIZE = late(r"(?:n|m|size|length|batch(?:[ _-]?size)?|elements|problem[ _-]?size|dim)", re.I)
# What a title's unit is never of: sizes, counts and names in numbers.
NO_FIGURE = late(
    r"sizes?\b|bytes\b|\b[KMG]i?B\b|\b(?:count|iter\w*|threads?|cores|stride|id|n|m)\b|#|%", re.I
)
_OF_FIGURE = late(
    r"speed|effic|ratio|ops|score|through|rate|time|per |count|events|total|mean", re.I
)


@lru_cache(maxsize=KEPT)
def unit_of(head: str) -> str:
    """The unit that a head names; "" where it names none."""
    found = _IN_HEAD.search(head.rstrip(" :")) if len(head) <= LONGEST_LABEL else None
    if found is None:
        return ""
    return UNITS[
        found["unit"]
        or found["first"]
        or found["bare"]
        or found["spaced"]
        or found["after"]
        or found["of_time"]
    ]


@lru_cache(maxsize=KEPT)
def holds_units(head: str) -> bool:
    """Whether the cells below this head are the units of their rows."""
    return head.strip(" :").lower() in ("unit", "units")


def names_unit(head: str) -> bool:
    """Whether a head names a unit, or its cells do."""
    return bool(unit_of(head)) or holds_units(head)


@lru_cache(maxsize=KEPT)
def name_of(head: str) -> str:
    """A head without its unit."""
    text = head.rstrip(" :")
    found = _IN_HEAD.search(text)
    edge = "()[] ,:_-" if found and found["first"] else " ,:_-"
    return _IN_HEAD.sub("", text).strip(edge) or text


@lru_cache(maxsize=KEPT)
def counted(head: str) -> str:
    """What a column of this head counts: threads, processes, devices or streams; "" if nothing."""
    words = _COUNT_WORDS.sub("", head.strip(" :").lower().replace("_", " ").strip())
    return _COUNTED.get(words.strip(), "")


def with_count(text: str) -> tuple[str, int] | None:
    """What a label like `8 threads` or `np=4` counts, and how many."""
    if (found := _WITH_COUNT.fullmatch(text.strip())) is None:
        return None
    what = (found["what"] or found["named"]).lower()
    kind = _COUNTED.get(what) or _COUNTED.get(f"{what}s") or "threads"
    return kind, int(found["count"] or found["number"])


# Nodes of a machine, and not those of a graph or a mesh.
_OF_SCALING, _NODES = late(r"(?i)speed-?up|efficiency"), late(r"(?i)(?:#|no\.? of )? ?nodes")


class Column(NamedTuple):
    """What the head of a column and all of its cells say: what it counts, how many a head like `8
    threads` names, the unit of times without one, and whether it only sets what a row is of."""

    head: str
    counted: str
    named: dict[str, int]
    bare_unit: str
    is_setting: bool


def columns(heads: Sequence[str], rows: Sequence[Sequence[str]]) -> list[Column]:
    """What all columns of a table are of; `rows` are the cells below the heads."""
    kinds = [counted(head) for head in heads]
    if not any(kinds) and any(map(_OF_SCALING.search, heads)):
        kinds = ["nodes" if _NODES.fullmatch(head.strip(" :")) else "" for head in heads]
    of_first = kinds[0] if heads else ""
    is_pivoted = of_first and len(heads) > LEAST_COLUMNS and all(map(str.isdecimal, heads[1:]))
    counts: list[dict[str, int]] = []
    for at, head in enumerate(heads):
        named = with_count(head)
        if is_pivoted and at:
            counts.append({of_first: int(head)})
        else:
            counts.append({named[0]: named[1]} if named else {})
    if sum(map(bool, counts)) < LEAST_COLUMNS:
        counts = [{} for _ in heads]
    cells = [[row[at] if at < len(row) else "" for row in rows] for at in range(len(heads))]
    of_work = any(kind in _OF_WORK for kind in kinds)
    has_counts = of_work or any(counts) or any(map(with_count, cells[0] if cells else ()))
    settings = _settings(heads, kinds, cells)
    return [
        Column(
            head,
            "" if is_pivoted and not at else kinds[at],
            counts[at],
            UNSTATED
            if has_counts and _BARE_TIME.fullmatch(head.strip(" :"))
            else _seconds(head, cells[at]),
            settings[at],
        )
        for at, head in enumerate(heads)
    ]


def _seconds(head: str, cells: Sequence[str]) -> str:
    """The unit of a column called `T s`; "" where it may be anything."""
    ends = bool(_SECONDS.match(head[-3:])) and len(head) <= LONGEST_LABEL
    return "s" if ends and cells and all(map(_DECIMAL.fullmatch, filter(None, cells))) else ""


def _settings(
    heads: Sequence[str], kinds: Sequence[str], cells: Sequence[Sequence[str]]
) -> list[bool]:
    """Which columns set what a row is of: whole numbers without a unit that come again, or sizes.

    Of two whose product is the count of each row, one says it all."""
    kept = [False] * len(heads)
    count = next((cells[at] for at, kind in enumerate(kinds) if kind), [])
    for at, (head, own) in enumerate(zip(heads, cells, strict=True)):
        if kinds[at] or unit_of(head) or not own or not all(map(str.isdecimal, own)):
            continue
        is_size = bool(_OF_SIZE.fullmatch(head.strip(" :")))
        if not is_size and (len(set(own)) == len(own) or _OF_FIGURE.search(head)):
            continue
        factors = (cells[other] for other in range(at) if kept[other])
        if not any(_is_product(own, factor, count) for factor in factors):
            kept[at] = True
    return kept


def _is_product(first: Sequence[str], second: Sequence[str], count: Sequence[str]) -> bool:
    return len(count) == len(first) and all(
        each.isdecimal() and int(a[:9]) * int(b[:9]) == int(each[:9])
        for a, b, each in zip(first, second, count, strict=True)
    )
