"""Programs that time compression or encryption in memory: zstd -b, lzbench, gocryptfs -speed."""

from __future__ import annotations

from typing import Any

from benchbook.explain.lazy_regex import late
from benchbook.explain.model import Log, Report
from benchbook.explain.readers.common.line_reader import LineReader, Reading, Run

TOOL = "zstd"
_N = r"\d{1,9}(?:\.\d{1,4})?"
_SIZE = r"\d{1,15}(?:\.\d{1,3})?(?: [KMGT]i?B)?"
_ZSTD = late(
    rf"^(?P<level>-?\d{{1,3}})#(?P<file>\S.{{0,60}}?) *: *{_SIZE} *-> *{_SIZE} *"
    rf"\(x?(?P<ratio>{_N})\), *(?P<fast>{_N}) MB/s(?: *,? *(?P<back>{_N}) MB/s)?"
)
_VERSION = late(
    r"(?i)^(?:lzbench|gocryptfs|zstd command line interface|.{0,12}zstandard cli.{0,14}) "
    r"v?(?P<version>\d[\w.]{0,20})"
)
_HEAD = late(r"^Compressor name\s+Compress\w*\.?\s+Decompress\w*\.?\s+(?:Orig\. size\s+)?Compr\.")
_LZBENCH = late(
    rf"^(?P<name>\S.{{0,50}}?)\s+(?P<fast>{_N}) MB/s\s+(?P<back>{_N}) MB/s\s+(?:\d{{1,15}}\s+)?"
    rf"\d{{1,15}}\s+(?P<ratio>{_N})(?:\s+(?P<file>\S.{{0,100}}))?$"
)
_CIPHER = late(
    r"^(?P<name>(?:AES-(?:GCM-256|SIV-512)|XChaCha20-Poly1305)-(?:OpenSSL|Go))\s+"
    rf"(?P<rate>{_N}) MB/s(?P<chosen>\s+\(selected in auto mode\))?"
)
_CPU = late(r"^cpu: (?P<cpu>\S.{0,80}?); with(?:out)? AES")


def _zstd(reading: Reading[Run], text: str) -> None:
    if found := _VERSION.match(text.strip("* ")):
        reading.begin(version=found["version"].rstrip("."))
    elif "#" in text and (found := _ZSTD.match(text)):
        of: dict[str, Any] = {"compressor": f"level {found['level']}", "file": found["file"]}
        reading.show("compression", found["fast"], "MB/s", "best", of)
        if found["back"]:
            reading.show("decompression", found["back"], "MB/s", "best", of)
        reading.show("ratio", found["ratio"], "times", "", of)


class _Table(Run):
    """Rows below a head of lzbench."""


def _lzbench(reading: Reading[_Table], text: str) -> None:
    row = " ".join(text.strip("|").split("|")).strip() if "|" in text else text
    if found := _VERSION.match(row):
        reading.begin(version=found["version"])
    elif _HEAD.match(row):
        if not reading.run.line or reading.run.results:
            reading.begin()
    elif reading.run.line and "MB/s" in row and (found := _LZBENCH.match(row)):
        of: dict[str, Any] = {"compressor": " ".join(found["name"].split())}
        of |= {"file": found["file"].strip()} if found["file"] else {}
        reading.show("compression", found["fast"], "MB/s", "", of)
        reading.show("decompression", found["back"], "MB/s", "", of)
        reading.show("compressed to", found["ratio"], "%", "", of)


_NOTABLE = 1.1  # times faster: less may be noise of one short run


class _Speed(Run):
    """One start of gocryptfs -speed."""

    def finish(self) -> bool:
        """Say where what the program selects is not the fastest of its cipher."""
        for own in self.results:
            cipher = own.name.rpartition("-")[0]
            others = [result for result in self.results if result.name.rpartition("-")[0] == cipher]
            fastest = max(others, key=lambda result: result.value)
            if own.of and own.value > 0 and fastest.value > _NOTABLE * own.value:
                self.notes.append(
                    f"line {own.line}: gocryptfs selects {own.name}, and {fastest.name} was "
                    f"{fastest.value / own.value:.2g} times faster in line {fastest.line}. The "
                    "option -openssl=true or -openssl=false selects the library"
                )
        return bool(self.results)


def _gocryptfs(reading: Reading[_Speed], text: str) -> None:
    if found := _VERSION.match(text):
        reading.begin(version=found["version"])
    elif found := _CPU.match(text):
        if not found["cpu"].startswith("unknown"):
            reading.run.facts["cpu"] = found["cpu"]
    elif "MB/s" in text and (found := _CIPHER.match(text)):
        if any(own.name == found["name"] for own in reading.run.results):
            reading.begin()
        of: dict[str, Any] = {"chosen": "in auto mode"} if found["chosen"] else {}
        reading.show(found["name"], found["rate"], "MB/s", "", of)


_OF_ZSTD = LineReader("zstd", Run, _zstd)
_OF_LZBENCH = LineReader("lzbench", _Table, _lzbench)
_OF_GOCRYPTFS = LineReader("gocryptfs", _Speed, _gocryptfs)


def read(log: Log) -> list[Report]:
    """One report for each start of each of the programs."""
    reports = _OF_ZSTD(log) if log.has("#") and log.has(" -> ") else []
    reports += _OF_LZBENCH(log) if log.has("Compressor name") else []
    return reports + (_OF_GOCRYPTFS(log) if log.has("AES-") else [])
