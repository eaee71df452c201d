"""RDMA perftest: the tables of ib_write_bw, ib_send_lat and their kin."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from benchbook.explain.lazy_regex import late
from benchbook.explain.readers.common.line_reader import LineReader, Reading, Run

TOOL = "perftest"
_TEST = late(
    r"^(?P<test>(?:RDMA_Write|RDMA_Read|Send|Write|Read|Atomic\w*|Raw Ethernet)[\w ]*?"
    r"(?P<what>BW|Latency|Lat)[\w -]*? Test)(?: for .*)?$"
)
_FACT = late(
    r"(Dual-port|Device|Number of qps|Transport type|Connection type|TX depth|Mtu|Link type)"
    r"\s*: *(\S+)"
)
_FACTS = {"Device": "device", "Number of qps": "queue_pairs", "Transport type": "transport"}
_COUNTS = {"Mtu": "mtu_bytes", "TX depth": "queue_depth"}
_FACTS |= {"Connection type": "connection", "Link type": "link_type"}
_RATES = late(
    r"^#bytes\s+#iterations(?P<peak>\s+BW peak\[[MG][Bb]/?(?:sec|s)\])?"
    r"\s+BW average\[(?P<unit>[MG][Bb])/?(?:sec|s)\](?P<messages>\s+MsgRate\[Mpps\])?"
)
_TIMES = late(r"^#bytes\s+#iterations\s+t_min\[usec\]\s+(?P<rest>.*)$")
_COLUMNS = {"BW peak": "max", "BW avg": "mean", "BW average": "mean", "MsgRate": "messages"}
_COLUMN = late(r"(?P<name>BW peak|BW average|BW avg|MsgRate) ?[(\[](?P<unit>[MG][Bb]|Mpps)\S*[)\]]")
_ROW = late(r"^\d+(?:\s+\d+(?:\.\d+)?){2,9}$")
_GID = late(r"^GID: (?:\d+:){10}255:255:(?P<address>\d+:\d+:\d+:\d+)$")  # an address of IPv4
_CLOCK = late(
    r"^Conflicting CPU frequency values detected"
    r"(?:: (?P<least>\d+(?:\.\d+)?) != (?P<most>\d+(?:\.\d+)?))?"
)
_WHOLE = late(r"\d+")
_UNITS = {"MB": "MiB/s", "Gb": "Gbit/s", "GB": "GiB/s"}
_STATISTICS = {"t_max": "max", "t_typical": "median", "t_avg": "mean", "t_stdev": "stddev"}
_STATISTICS |= {"99%": "p99", "99.9%": "p99.9"}
_NEAR = 0.005


@dataclass
class _Run(Run):
    """One start of one side."""

    test: str = ""
    unit: str = ""
    columns: list[str] = field(default_factory=list)
    cells: list[tuple[str, str]] = field(default_factory=list)  # of a Markdown table: column, unit

    def finish(self) -> bool:
        """Say what its MB are, and which latency it gives."""
        if any(result.unit == "MiB/s" for result in self.results):
            self.notes.append("its MB/s are of 2^20 bytes")
        of_one_way = "Read" not in self.test and "Atomic" not in self.test
        if any(result.is_time for result in self.results) and of_one_way:
            self.notes.append("its latency is half of a round trip")
        return bool(self.results)


def _line(reading: Reading[_Run], text: str) -> None:
    run = reading.run
    if run.cells and not text.startswith("|"):  # behind the table, somebody shows one of its runs
        run = reading.begin()
    if found := _TEST.match(text):
        run = reading.begin(test=found["test"])
        run.facts["test"] = found["test"]
    elif found := _RATES.match(text):
        run.unit, run.columns = _UNITS[found["unit"]], ["max"] if found["peak"] else []
        run.columns += ["mean", *(["messages"] if found["messages"] else [])]
    elif found := _TIMES.match(text):
        heads = found["rest"].replace("percentile", "").replace("[usec]", " ").split()
        run.unit, run.columns = "us", ["min", *(_STATISTICS.get(head, "") for head in heads)]
    elif run.columns and _ROW.match(text):
        size, count, *cells = text.split()
        of: dict[str, Any] = {"message_bytes": int(size), "iterations": int(float(count))}
        name = "latency" if run.unit == "us" else "bandwidth"
        for statistic, cell in zip(run.columns, cells, strict=False):
            if statistic == "messages":
                reading.add("message rate", float(cell) * 1e6, "messages/s", "mean", of)
            elif statistic == "max" and name == "bandwidth" and float(cell) == 0:
                # It prints a peak of 0 where it took none.
                reading.show("peak, not measured", cell, run.unit, of=of)
            elif statistic:
                reading.add(name, cell, run.unit, statistic, of)
        if name == "bandwidth":
            _decimal(run)
    elif text.startswith("|") and _in_markdown(reading, text):
        pass
    elif found := _GID.match(text):
        ends = ("near_address", "far_address")
        end = next((name for name in ends if name not in run.facts), "")
        address = ".".join(str(int(part)) for part in found["address"].split(":"))
        run.facts |= {end: address} if end else {}
    elif clocks := _CLOCK.match(text):
        run.facts.setdefault("clocks_differ_line", reading.line.number)
        for clock in clocks.groups() if clocks["least"] else ():
            reading.add("CPU clock", clock, "MHz")
    else:
        run.facts |= {
            _FACTS[label]: value for label, value in _FACT.findall(text) if label in _FACTS
        }
        run.facts |= {
            _COUNTS[label]: int(digits[0])
            for label, value in _FACT.findall(text)
            if label in _COUNTS and (digits := _WHOLE.match(value))
        }


def _in_markdown(reading: Reading[_Run], text: str) -> bool:
    """Whether it is the head or a row of a Markdown table in which somebody put several runs."""
    run, cells = reading.run, [cell.strip(" *`") for cell in text.strip("| ").split("|")]
    heads = [_COLUMN.fullmatch(cell) for cell in cells]
    if any(heads):
        columns = [(_COLUMNS[head["name"]], head["unit"]) if head else ("", "") for head in heads]
        reading.begin(cells=columns)
        return True
    if not run.cells or len(cells) != len(run.cells):
        return False
    own = list(zip(cells, run.cells, strict=True))
    of = {"label": " ".join(cell for cell, (column, _) in own if not column and cell)}
    for cell, (column, unit) in own:
        if column == "messages":
            rate = reading.number(cell)
            reading.add(
                "message rate", None if rate is None else rate * 1e6, "messages/s", "mean", of
            )
        elif column:
            reading.add("bandwidth", cell, _UNITS[unit], column, of)
    return True


def _decimal(run: _Run) -> None:
    """MB are of 10^6 bytes where the tool's own message rate says so."""
    of_row = [result for result in run.results[-3:] if result.name != "CPU clock"]
    *rates, messages = of_row
    means = [rate for rate in rates if rate.statistic == "mean" and rate.unit == "MiB/s"]
    if messages.name == "message rate" and means:
        moved = messages.value * messages.of["message_bytes"]
        if abs(means[0].value * 1e6 - moved) <= _NEAR * moved:
            for rate in rates:
                rate.unit = "MB/s"


read = LineReader(TOOL, _Run, _line)
