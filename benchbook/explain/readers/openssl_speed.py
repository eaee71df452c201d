"""openssl speed: how much each algorithm processed in some seconds, and its tables of rates."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from benchbook.explain.lazy_regex import late
from benchbook.explain.readers.common.line_reader import LineReader, Reading, Run

TOOL = "openssl-speed"
_NUMBER = r"\d{1,15}(?:\.\d{1,6})?"
_DOING = late(
    rf"^Doing (?P<name>\S.{{0,60}}?) (?:ops )?for (?P<asked>\d{{1,5}})s on "
    rf"(?P<size>\d{{1,9}}) size blocks: (?P<count>\d{{1,18}}) .{{1,60}} in (?P<took>{_NUMBER})s$"
)
# Of a child of openssl speed -multi; of which block it is, the line before tells the parent only.
_OF_CHILD = late(rf"^\+R:(?P<count>\d{{1,18}}):(?P<name>[\w() -]{{1,60}}):(?P<took>{_NUMBER})$")
_VERSION = late(r"^(?:OpenSSL|version:|LibreSSL) ?(?P<version>\d[\w.-]*)")
_HEAD = late(r"^type\s+(?P<sizes>\d{1,9} bytes(?:\s+\d{1,9} bytes)*)$")
_SIZE = late(r"(\d{1,9}) bytes")
_ROW = late(rf"^(?P<name>[A-Za-z(][\w()+/ .-]{{1,60}}?)\s+(?P<cells>{_NUMBER}k(?:\s+{_NUMBER}k)*)$")
_SIGNED = late(
    rf"^(?P<name>(?:rsa|dsa|RSA)\s+\d{{3,5}} bits|\d{{3}} bits (?:ecdsa|EdDSA) \(.{{1,40}}\))\s+"
    rf"(?P<sign>{_NUMBER})s\s+(?P<verify>{_NUMBER})s\s+"
    rf"(?P<signs>{_NUMBER})\s+(?P<verifies>{_NUMBER})$"
)


@dataclass
class _Run(Run):
    """One start; `sizes` are the blocks of the table that is being read."""

    sizes: list[int] = field(default_factory=list)


def _line(reading: Reading[_Run], text: str) -> None:
    run = reading.run
    if text.startswith("Doing ") and (found := _DOING.match(text)):
        if run.sizes:
            run = reading.begin()
        run.line = run.line or reading.line.number
        of: dict[str, Any] = {"block_bytes": int(found["size"]), "operation": found["name"]}
        own = of | {"asked_s": float(found["asked"])}
        reading.add(f"{found['name']} blocks", found["count"], "blocks", "", own)
        reading.add(f"{found['name']} time", found["took"], "s", "", own)
    elif text.startswith("+R:") and (found := _OF_CHILD.match(text)):
        own = {"operation": found["name"]}
        reading.add(f"{found['name']} blocks of a child", found["count"], "blocks", "", own)
        reading.add(f"{found['name']} time of a child", found["took"], "s", "", own)
    elif found := _VERSION.match(text):
        run.version = run.version or found["version"]
    elif found := _HEAD.match(text):
        run.sizes = [int(size) for size in _SIZE.findall(found["sizes"])]
        run.line = run.line or reading.line.number
    elif run.sizes and text.endswith("k") and (found := _ROW.match(text)):
        cells = found["cells"].split()
        for size, cell in zip(run.sizes, cells, strict=False):
            of = {"block_bytes": size, "operation": found["name"]}
            reading.add(f"{found['name']} rate", cell.removesuffix("k"), "kB/s", "", of)
    elif "bits" in text and (found := _SIGNED.match(text)):
        of = {"operation": found["name"]}
        reading.add(f"{found['name']} sign", found["sign"], "s", "mean", of)
        reading.add(f"{found['name']} verify", found["verify"], "s", "mean", of)
        reading.add(f"{found['name']} sign rate", found["signs"], "signatures/s", "", of)
        reading.add(f"{found['name']} verify rate", found["verifies"], "checks/s", "", of)


read = LineReader(TOOL, _Run, _line)
