"""HPC Challenge: the summary of hpccoutf.txt, one `name=value` a line."""

from __future__ import annotations

from benchbook.explain.lazy_regex import late
from benchbook.explain.readers.common.line_reader import LineReader, Reading, Run

TOOL = "hpcc"
_LINE = late(r"^(?P<key>[A-Za-z]\w{2,60})=(?P<value>-?\d{1,18}(?:\.\d+)?(?:e[+-]?\d{1,3})?)$")
_UNITS = (
    (late(r"_Tflops$"), "Tflop/s"),
    (late(r"_Gflops$"), "Gflop/s"),
    (late(r"_GBs$|_GBytes$|(?:Star|Single)STREAM_(?:Copy|Scale|Add|Triad)$"), "GB/s"),
    (late(r"_GUPs$"), "Gupdates/s"),
    (late(r"_usec$"), "us"),
    (late(r"^(?:HPL|PTRANS|MPIRandomAccess(?:_LCG)?)_time$"), "s"),
)
_FACTS = {
    "CommWorldProcs": "processes", "MPIFFT_Procs": "processes", "STREAM_Threads": "threads",
    "HPL_N": "matrix_order", "HPL_NB": "block_rows",
}  # fmt: skip
_FAILED = late(r"_Errors$|_Failures?$")


# mpirun --display-map, above the run.
_RANK = late(r"^Process rank: (?P<rank>\d{1,6})$")


def _line(reading: Reading[Run], text: str) -> None:
    run = reading.run
    if rank := _RANK.match(text):
        if not run.results:
            own = int(rank["rank"]) + 1
            run.facts["processes"] = max(own, run.facts.get("processes", 0))
        return
    if "=" not in text or not (found := _LINE.match(text)):
        return
    key, value = found["key"], found["value"]
    if key in _FACTS and value.isdecimal() and int(value) > 0:
        name = _FACTS[key]
        run = reading.begin() if key == "CommWorldProcs" and run.results else run
        run.facts.setdefault(name, int(value))
    elif _FAILED.search(key) and value.isdecimal():
        if int(value) > 0:
            run.facts.setdefault("failed_lines", []).append(reading.line.number)
        return
    for pattern, unit in _UNITS:
        if pattern.search(key):
            if any(result.name == key for result in run.results):
                run = reading.begin()
            reading.add(key, value, unit)
            return


read = LineReader(TOOL, Run, _line)
