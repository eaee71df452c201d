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
_PLAIN_COUNT = late(r"^aes-(?:128|192|256) (?:cbc|ige) blocks$")
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
        yield from _plain_counts(rates)
        return
    most = max(plain, key=lambda rate: rate.of.get("block_bytes", 0))
    other = _behind_evp(most, rates)
    words = {"plain": most, "row": most.name.removesuffix(" rate"), "evp": other}
    words["times"] = other.value / most.value if other and most.value > 0 else None
    if other is None or other.value >= FAR_MORE * most.value:
        yield finding("without-evp", words, about=[own for own in (most, other) if own])


def _timed_blocks(results: Sequence[Result]) -> list[tuple[Result, Result, float]]:
    """Counts of blocks with the time that they took, and that of one in s."""
    times = {(own.line, own.of.get("block_bytes")): own for own in results if own.unit == "s"}
    timed = [
        (own, times[own.line, own.of.get("block_bytes")])
        for own in results
        if own.name.endswith(" blocks") and (own.line, own.of.get("block_bytes")) in times
    ]
    return [
        (count, took, took.value / count.value)
        for count, took in timed
        if count.is_positive and took.is_positive
    ]


def _plain_counts(results: Sequence[Result]) -> Iterator[Finding]:
    """AES without -evp where the log ends before the table: by how many blocks were done."""
    timed = [own for own in _timed_blocks(results) if _PLAIN_COUNT.match(own[0].name)]
    if timed:
        count, took, each = max(timed, key=lambda own: own[0].of["block_bytes"])
        words = {"count": count, "took": took, "row": count.name.removesuffix(" blocks")}
        words |= {"size": count.of["block_bytes"], "rate": count.of["block_bytes"] / each}
        yield finding("without-evp-counts", words, about=[count])


IN_KERNEL = ("devcrypto", "afalg", "cryptodev")
LEAST_CALL_S = 1e-6


@rule
def calls_of_kernel(report: Report) -> Iterator[Finding]:
    """Blocks that openssl speed hands to the kernel, each by a call that costs more than the work.

    Decided by the engine that its command names and the time of the smallest block.
    """
    words = report.asked
    named = [word for word in IN_KERNEL if word in words]
    if report.tool != OPENSSL or not named or "-engine" not in words:
        return
    timed = _timed_blocks(report.results)
    least = min(timed, key=lambda own: own[0].of["block_bytes"], default=None)
    if least and least[0].of["block_bytes"] <= SMALL_BLOCK and least[2] >= LEAST_CALL_S:
        count, took, each = least
        size = count.of["block_bytes"]
        own = {"count": count, "took": took, "each_ns": each * 1e9, "size": size}
        yield finding("calls-of-kernel", own, about=[count], engine=named[0], rate=size / each)


SMALL_BLOCK = 64


def _behind_evp(plain: Result, rates: Sequence[Result]) -> Result | None:
    """The fastest rate of the same cipher and block with -evp, if the log has one."""
    name = plain.name.replace(" ", "-", 1).lower()
    size = plain.of.get("block_bytes")
    own = [
        rate for rate in rates if rate.name.lower() == name and rate.of.get("block_bytes") == size
    ]
    return max(own, key=lambda rate: rate.value, default=None)
