"""cipher-in-software: rates of AES that are not those of the processor's own instructions."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from benchbook.explain.lazy_regex import late
from benchbook.explain.model import Report, Result
from benchbook.explain.rules import rule
from benchbook.explain.rules.common.findings import finding
from benchbook.findings import Finding

CRYPTSETUP, OPENSSL = "cryptsetup", "openssl-speed"
LIKE_OTHERS = 1.5  # times Twofish: by instructions of its own AES is three times as fast and more
SLOW_MIB = 300.0  # what AES by instructions has on the slowest cores
_OTHERS = ("twofish", "serpent")
# What openssl speed prints of its own functions has a blank, and of those behind -evp a dash.
_PLAIN = late(r"^aes-(?P<bits>128|192|256) (?P<mode>cbc|ige) rate$")
FAR_MORE = 2.0


@rule
def disk_ciphers(report: Report) -> Iterator[Finding]:
    """AES that is no faster than a cipher without instructions of its own."""
    if report.tool != CRYPTSETUP:
        return
    rates = {
        (*str(rate.of["operation"]).partition("-")[::2], rate.of.get("key_bits")): rate
        for rate in report.results
        if rate.name.endswith(" encryption")
    }
    pairs = [
        (own, rates[other, mode, bits])
        for (cipher, mode, bits), own in rates.items()
        if cipher == "aes"
        for other in _OTHERS
        if (other, mode, bits) in rates
    ]
    if not pairs or any(own.value > LIKE_OTHERS * other.value for own, other in pairs):
        return
    best, other = max(pairs, key=lambda pair: pair[0].value)
    if 0 < best.value < SLOW_MIB:
        yield finding("aes-like-others", aes=best, other=other)


@rule
def plain_functions(reports: Sequence[Report]) -> Iterator[Finding]:
    """AES of openssl speed without -evp, by the name of its row."""
    rates = [rate for report in reports if report.tool == OPENSSL for rate in report.results]
    plain = [rate for rate in rates if _PLAIN.match(rate.name)]
    if not plain:
        return
    most = max(plain, key=lambda rate: rate.of.get("block_bytes", 0))
    other = _behind_evp(most, rates)
    words = {"plain": most, "row": most.name.removesuffix(" rate"), "evp": other}
    words["times"] = other.value / most.value if other and most.value > 0 else None
    if other is None or other.value >= FAR_MORE * most.value:
        yield finding("without-evp", words, about=[own for own in (most, other) if own])


def _behind_evp(plain: Result, rates: Sequence[Result]) -> Result | None:
    """The fastest rate of the same cipher and block with -evp, if the log has one."""
    name = plain.name.replace(" ", "-", 1).lower()
    size = plain.of.get("block_bytes")
    own = [
        rate for rate in rates if rate.name.lower() == name and rate.of.get("block_bytes") == size
    ]
    return max(own, key=lambda rate: rate.value, default=None)
