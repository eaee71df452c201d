"""qperf: rates and latencies of TCP, UDP and RDMA, each test with its figures below its name."""

from __future__ import annotations

from dataclasses import dataclass

from benchbook.explain.lazy_regex import late
from benchbook.explain.readers.common.line_reader import LineReader, Reading, Run

TOOL = "qperf"
_TEST = late(r"^(?P<test>(?:tcp|udp|sctp|sdp|rds|rc|uc|ud|xrc|ver)_[a-z_]{0,40}(?:bw|lat|mr))\s?:$")
_ROW = late(
    r"^(?P<name>bw|latency|send_bw|recv_bw|msg_rate|msg_size|loc_cpus_used|rem_cpus_used|time)"
    r"\s+=\s+(?P<value>\d[\d.,]*)\s?(?P<unit>[a-zA-Z%/]+(?: cpus)?)$"
)
_UNITS = {
    "bytes/sec": "B/s", "KB/sec": "kB/s", "MB/sec": "MB/s", "GB/sec": "GB/s", "Kb/sec": "kbit/s",
    "Mb/sec": "Mbit/s", "Gb/sec": "Gbit/s", "ns": "ns", "us": "us", "ms": "ms", "sec": "s",
}  # fmt: skip
_MANY = {"/sec": 1.0, "K/sec": 1e3, "M/sec": 1e6}
_SIZES = {"bytes": 1, "KB": 1000, "MB": 10**6, "KiB": 1 << 10, "MiB": 1 << 20}


@dataclass
class _Run(Run):
    """One test."""

    test: str = ""

    def finish(self) -> bool:
        """Say which latency it gives."""
        is_exchange = self.test.startswith(("tcp", "udp", "sctp", "rds", "rc_lat", "uc_lat", "ud"))
        if is_exchange and any(own.name == "latency" for own in self.results):
            self.notes.append("its latency is half of a round trip")
        return bool(self.results)


def _line(reading: Reading[_Run], text: str) -> None:
    run = reading.run
    if found := _TEST.match(text):
        facts = {"test": found["test"]}
        if found["test"].startswith(("tcp", "udp")):
            facts["protocol"] = found["test"][:3]
        reading.begin(test=found["test"], facts=facts)
    elif run.test and (found := _ROW.match(text)):
        name, value, unit = found["name"], reading.number(found["value"]), found["unit"]
        if name in ("bw", "send_bw", "recv_bw") and unit in _UNITS:
            of = {"end": "sender"} if name == "send_bw" else {}
            of = {"end": "receiver"} if name == "recv_bw" else of
            reading.add("throughput", value, _UNITS[unit], "total", of)
        elif name == "latency" and unit in _UNITS:
            reading.add("latency", value, _UNITS[unit], "mean")
        elif name == "msg_rate" and unit in _MANY and value is not None:
            reading.add("message rate", value * _MANY[unit], "messages/s", "mean")
        elif name == "msg_size" and unit in _SIZES and value is not None:
            run.facts["message_bytes"] = round(value * _SIZES[unit])
        elif name.endswith("cpus_used") and unit.startswith("%"):
            end = "local" if name.startswith("loc") else "remote"
            reading.add("CPU", value, "%", "", {"end": end})


read = LineReader(TOOL, _Run, _line)
