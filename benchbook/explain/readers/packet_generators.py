"""DPDK's testpmd and pktgen, and TRex: packets that ports sent and received, and that were lost."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from benchbook.explain.lazy_regex import late
from benchbook.explain.readers.common.line_reader import LineReader, Reading, Run

TOOL = "packet generator"
_HEAD = late(r"^[#-]{5,60} (?:NIC|Forward) statistics for port (?P<port>\d{1,4}) +[#-]{5,60}$")
_PAIR = late(
    r"\b(?P<name>[RT]X-(?:packets|missed|errors|nombuf|dropped|total)|[RT]x-pps|[RT]x-bps):"
    r"\s+(?P<value>\d{1,18})\b"
)
_PKTGEN = late(
    r"^(?P<first>Pkts/s Rx|Tx|Rx/Tx|MBits/s Rx/Tx)\s*:\s+(?P<cells>[\d,/]+(?:\s+[\d,/]+)*)$"
)
_TREX = late(
    r"\b(?P<name>total_tx_L2|total_tx|total_rx|total_pps|drop_rate|cpu_util\.|queue_full)\s*:\s+"
    r"(?P<value>\d[\d,]*(?:\.\d+)?) ?(?P<unit>[KMGT]?(?:bps|pps)|pkts|%)"
)
_NAMES = {
    "RX-packets": "packets received", "TX-packets": "packets sent", "RX-missed": "packets missed",
    "RX-errors": "packets with errors", "TX-errors": "packets not sent", "RX-nombuf": "no buffer",
    "RX-dropped": "packets dropped on receipt", "TX-dropped": "packets dropped on sending",
}  # fmt: skip
_OF_LIBRARY = {
    "ipackets": "packets received", "opackets": "packets sent", "imissed": "packets missed",
    "ierrors": "packets with errors", "oerrors": "packets not sent", "rx_nombuf": "no buffer",
}  # fmt: skip
_COUNTER = late(rf"\b(?P<name>{'|'.join(_OF_LIBRARY)}):\s+(?P<value>\d{{1,18}})\b")
_RATES = {"Rx-pps": "receive rate", "Tx-pps": "send rate"}
_OF_TREX = {"total_tx_L2": "sent", "total_tx": "sent", "total_rx": "received", "drop_rate": "lost"}
_SCALES = {"": 1.0, "K": 1e3, "M": 1e6, "G": 1e9, "T": 1e12}


@dataclass
class _Run(Run):
    """One page of figures."""

    of: str = ""
    heads: list[str] = field(default_factory=list)  # of the line above its values

    def finish(self) -> bool:
        """Whether anything was counted."""
        return any(own.value for own in self.results)


def _line(reading: Reading[_Run], text: str) -> None:
    if found := _HEAD.match(text):
        reading.begin(of="testpmd").facts["test"] = f"port {int(found['port'])}"
    elif text.startswith(("RX-", "TX-", "Rx-", "Tx-")) and reading.run.of == "testpmd":
        for pair in _PAIR.finditer(text):
            if pair["name"] in _NAMES:
                reading.add(_NAMES[pair["name"]], float(pair["value"]), "packets", "total")
            elif pair["name"] in _RATES:
                reading.add(_RATES[pair["name"]], float(pair["value"]), "packets/s", "mean")
            elif pair["name"].endswith("bps"):
                end = "received" if pair["name"].startswith("R") else "sent"
                reading.add(end, float(pair["value"]), "bit/s", "mean")
    elif text.startswith(("ipackets", "imissed", "ierrors")):
        _of_library(reading, text)
    elif reading.run.heads and (cells := text.split()) and all(map(str.isdecimal, cells)):
        heads, reading.run.heads = reading.run.heads, []
        if len(heads) == len(cells):
            for head, cell in zip(heads, cells, strict=True):
                if head in _OF_LIBRARY:
                    reading.add(_OF_LIBRARY[head], float(cell), "packets", "total")
    elif found := _PKTGEN.match(text):
        _of_pktgen(reading, found["first"], found["cells"].split())
    elif "_" in text and ":" in text:
        _of_trex(reading, text)


def _of_library(reading: Reading[_Run], text: str) -> None:
    """A line of the counters of rte_eth_stats, with their values or above them."""
    run = reading.run
    if text.startswith("ipackets") and (run.of != "library" or run.results):
        run = reading.begin(of="library")
    elif run.of != "library":
        return
    for pair in _COUNTER.finditer(text):
        reading.add(_OF_LIBRARY[pair["name"]], float(pair["value"]), "packets", "total")
    run.heads = [] if ":" in text else text.split()


def _of_pktgen(reading: Reading[_Run], first: str, cells: list[str]) -> None:
    """A line of the table of ports; its last cell is the sum, where there are several."""
    if first == "Pkts/s Rx":
        reading.begin(of="pktgen")
    elif reading.run.of != "pktgen":
        return
    figures = [cell.replace(",", "") for cell in cells]
    if "/" in first and "MBits" in first and "/" in figures[-1]:
        for name, cell in zip(("received", "sent"), figures[-1].split("/"), strict=False):
            reading.add(name, cell, "Mbit/s", "mean")
    elif figures[-1].isdecimal() and first != "Rx/Tx":
        name = "receive rate" if first == "Pkts/s Rx" else "send rate"
        reading.add(name, float(figures[-1]), "packets/s", "mean")


def _of_trex(reading: Reading[_Run], text: str) -> None:
    for found in _TREX.finditer(text):
        run = reading.run
        if run.of != "trex" or (found["name"].startswith("total_tx") and run.results):
            run = reading.begin(of="trex")
        value, unit = float(found["value"].replace(",", "")), found["unit"]
        name, of = found["name"], dict[str, Any]()
        if unit.endswith("bps") and name in _OF_TREX:
            reading.add(_OF_TREX[name], value * _SCALES[unit[:-3]] / 1e6, "Mbit/s", "mean", of)
        elif unit.endswith("pps"):
            reading.add("send rate", value * _SCALES[unit[:-3]], "packets/s", "mean")
        elif name == "cpu_util.":
            reading.add("CPU", value, "%", "", {"end": "local"})
        elif name == "queue_full":
            reading.add("packets without room", value, "packets", "total")


read = LineReader(TOOL, _Run, _line)
