"""ping: iputils in any language, busybox, BSD, macOS and Solaris, GNU inetutils; routers of Cisco,
Huawei and MikroTik."""

from __future__ import annotations

import re

from benchbook.explain.addresses import are_apart
from benchbook.explain.lazy_regex import late
from benchbook.explain.model import Line, Log, Report, Result
from benchbook.explain.readers.common import ping_runs

TOOL = ping_runs.TOOL
_HEAD = late(
    # Of IPv6 iputils has `host(name (address))`.
    r"\bPING6? (?P<host>[^\s(]++)(?:\s*\((?:[^()\s]+ \()?(?P<address>[^()]+)\))?.*?"
    r"(?<!\d)(?P<bytes>\d+)(?:\(\d+\) |(?: data)? (?:[Bb]ytes|octets))"
)
_FROM = late(r"\) from (?P<address>[\da-fA-F.:]+)(?: (?P<device>[\w.@-]+))?: ")
_HEAD_6 = late(r"\bPING6\(\d+=40\+8\+(?P<bytes>\d+) bytes\) \S+ --> (?P<host>\S+)")
_REPLY = late(
    r"(?<!\d)(?P<size>\d+) (?:bytes from|Bytes von|octets de|bytes desde|byte da|bytes de) "
    r"(?P<from>[^\s,]+?)(?: \((?P<address>[^)]+)\))?\s?[:,].*?"
    r"\b(?:icmp_)?seq[= ](?P<number>\d+).*?\b(?:time|Zeit|temps|tiempo|tempo)[=<] ?"
    r"(?P<time>-?\d[\d.,]*) ?(?P<unit>ms|us|µs|usec|s)\b"
)
_COUNTS = late(
    r"(?<!\d)(?P<sent>\d+) (?:packets? transmitted|Pakete? \S+bertragen|paquets? transmis|"
    r"pa(?:que|co)tes? transmitidos?|pacchetti trasmessi), (?P<got>\d+) (?:(?:packets? )?received|"
    r"empfangen|re\S+us?|rec[ei]bidos?|ricevuti).*?(?<!\d)(?<!\d[.,])(?P<lost>-?\d[\d.,]*) ?%"
    r"(?:[^,]*, (?:time|Zeit|temps|tiempo|tempo) (?P<took>\d+) ?ms)?"
)
_TWICE = late(r"(?<!\d)(?P<twice>\d+) (?:dupli[ck]\w+|Dupli[ck]\w+|doublons)")
# Where more came back than was sent, BSD says so instead of a share.
_FORGED = late(
    r"(?<!\d)(?P<sent>\d+) packets transmitted, (?P<got>\d+) (?:packets )?received,.{0,40}?"
    r" -- somebody(?:'s| is) printing"
)
_MS = "ms|\u043c\u0441|\u6beb\u79d2|\u30df\u30ea\u79d2|\ubc00\ub9ac\ucd08"
# Solaris names the unit first; French has moy, not avg, and other languages none of these words.
_SPREAD = late(
    r"(?:rtt|round-trip)(?: \((?P<first>ms)\))?\s+(?:min/(?:avg|\w{3,8})/max"
    r"(?:/(?P<kind>mdev|std-?dev))?|[^=/\d]{2,20}(?:/[^=/\d]{2,20}){3})\s*="
    # Of times as long as no network makes them its deviation has a sign in the middle.
    r"\s*(?P<values>-?[\d.,na]+(?:/-?[\d.,na]+){2,3}(?:-\d+)?)"
    rf"(?(first)|\s*(?P<unit>{_MS}|us|s)\b)"
)
_IN_FLIGHT = late(r"\bin-flight (\d{1,9})\b")
# Of a flood: what was between echoes, and the recent ones' weighted mean.
_FLOOD = late(r"\bipg/ewma (?P<gap>\d[\d.,]*)/(?P<recent>\d[\d.,]*) (?P<unit>ms|us|s)\b")
_STEPPED = late(r"[Ww]arning: time of day goes back \((?P<back>-?\d{1,20}) ?(?P<unit>u?s)\)")
_UNREACHED = late(r"^\s*(?:\S+ )?From \S+.{0,60}icmp_seq[= ]\d+ Destination \w+ (?:U|u)nreachable")
_CHECKSUM = late(r"^checksum mismatch from \S+")
_TITLE = late(r"^\s*--- (?P<host>\S+) ping statistics ---")
# iputils in the languages that are not above: names and units of a reply, and the order of what
# follows its title, are the same in all.
_OTHER_REPLY = late(
    r"(?<!\S)(?P<size>\d{1,5}) [^\s=][^=]{0,40}?(?<!\S)(?P<from>[\w.:%-]{1,255}?)"
    r"(?: \((?P<address>[^)\s]{1,50})\))?(?:'\w{1,6})? ?[:\uff1a] icmp_seq=(?P<number>\d+)"
    r"(?: ident=\d+)? ttl=\d+ "
    rf"[^\s=]{{1,20}}=(?P<time>\d[\d.,]*) ?(?P<unit>{_MS})(?!\w)"
)
_OTHER_TITLE = late(r"^\s*--- (?=.{0,200}[Pp]ing)[^,]{3,200} ---$")
_OTHER_COUNTS = late(
    r"^[^\d%]{0,30}(?P<sent>\d+)[^\d%]{1,30}(?P<got>\d+)\D.{0,80}?(?<![\d.,])"
    r"(?P<before>%)?(?P<lost>\d{1,3}(?:[.,]\d+)?)(?(before)| ?%)"
)
_CISCO = late(r"Success rate is (?P<share>\d{1,3}) percent \((?P<got>\d{1,9})/(?P<sent>\d{1,9})\)")
_CISCO_HEAD = late(r"^\s*Sending \d+, \d+-byte ICMP Echos to (?P<host>\S+), timeout")
# Those of Windows have no sequence.
_HUAWEI_REPLY = late(
    r"^(?=.*Sequence=)\s*Reply from\s+(?P<from>\S+?)\s?:"
    r"(?:.*?=\s?(?P<size>\d++))?.*?(?P<less>[=<])\s?(?P<time>\d+) ?ms?\b"
)
_HUAWEI_COUNT = late(
    r"^\s*(?P<value>\d+(?:\.\d+)?) ?(?P<what>packet\(s\) transmitted|packet\(s\) received"
    r"|% packet loss)\s*$"
)
_TIME = r"(?:\d{1,9}s)?(?:\d{1,9}ms)?(?:\d{1,9}us)?"
_MIKROTIK = late(
    r"^\s*sent=(?P<sent>\d+) received=(?P<got>\d+) packet-loss=(?P<lost>\d+)%"
    rf"(?: min-rtt=(?P<min>{_TIME}) avg-rtt=(?P<mean>{_TIME}) max-rtt=(?P<max>{_TIME})(?!\S))?"
)
_MIKROTIK_REPLY = late(
    rf"^\s*\d+ (?P<host>[\w.:-]+) +(?P<size>\d+) +\d+ +(?P<time>(?=\d){_TIME})\s*$"
)
_TIMES = late(r"(\d+)(s|ms|us)")
_UNITS = {"us": "us", "µs": "us", "usec": "us", "s": "s"} | dict.fromkeys(_MS.split("|"), "ms")
_HEADER_BYTES = 8  # of ICMP, in the size that a reply has


def read(log: Log) -> list[Report]:
    """One report for each start; without a head, a title or the sums end one."""
    return ping_runs.read_by(log, _TAKEN, _ONLY_WITH)


def _head(runs: list[ping_runs.Run], line: Line, found: re.Match[str]) -> None:
    run = ping_runs.headed(runs, line, found)
    if near := _FROM.search(line.text):
        run.facts |= {"near_address": near["address"]}
        if near["device"]:
            run.facts["device"] = near["device"]


def _reply(runs: list[ping_runs.Run], line: Line, found: re.Match[str]) -> None:
    size, name, address, number, time, unit = found.groups()
    ping_runs.replied(runs, line, time, _UNITS[unit], int(size) - _HEADER_BYTES, address or name)
    if not runs:
        return  # its time is no number
    if len(number) < 6:
        runs[-1].numbers.setdefault(int(number), line.number)
    if "." in time and not time.strip("0."):
        runs[-1].count("below_tick")
    if "(DUP!)" in line.text:
        runs[-1].count("replies_again")
        runs[-1].facts.setdefault("replies_again_line", line.number)


def _stepped(runs: list[ping_runs.Run], line: Line, found: re.Match[str]) -> None:
    """The longest of the steps that its clock made."""
    run = ping_runs.going(runs, line)
    step = abs(int(found["back"])) * (1000 if found["unit"] == "us" else 10**9)
    if step > run.facts.get("clock_step_ns", 0):
        run.facts |= {"clock_step_ns": step, "clock_step_line": line.number}


def _checksum(runs: list[ping_runs.Run], line: Line, found: re.Match[str]) -> None:
    ping_runs.going(runs, line).facts.setdefault("checksum_line", line.number)


def _unreached(runs: list[ping_runs.Run], line: Line, _: re.Match[str]) -> None:
    ping_runs.going(runs, line).count("unreachable_answers")


def _title(runs: list[ping_runs.Run], line: Line, found: re.Match[str]) -> None:
    run = ping_runs.opened(runs, "far_host", found["host"]) or ping_runs.going(runs, line)
    if are_apart(run.facts.get("far_address"), found["host"]):
        run = ping_runs.begun(runs, line)  # of another, whose head and replies are not here
    run.facts.setdefault("far_host", found["host"])


def _counts(runs: list[ping_runs.Run], line: Line, found: re.Match[str]) -> None:
    run = ping_runs.going(runs, line)
    named = found.groupdict()
    run.add_counts(int(named["sent"]), int(named["got"]), line)
    if (lost := ping_runs.number_of(named["lost"])) is not None:
        run.add_loss(lost, line.number)
    if ("+" in line.text or "dupl" in line.text) and (twice := _TWICE.search(line.text)):
        run.add_total("duplicates", float(twice["twice"]), "packets", line.number)
    if named.get("took"):
        run.facts["took_ms"] = int(named["took"])


def _forged(runs: list[ping_runs.Run], line: Line, found: re.Match[str]) -> None:
    ping_runs.going(runs, line).add_counts(int(found["sent"]), int(found["got"]), line)


def _spread(runs: list[ping_runs.Run], line: Line, found: re.Match[str]) -> None:
    run = ping_runs.untold(runs, line)
    if "in-flight" in line.text and (waiting := _IN_FLIGHT.search(line.text)):
        run.facts["in_flight"] = int(waiting[1])
    if "ipg" in line.text and (flood := _FLOOD.search(line.text)):
        for name, digits in (("sending gap", "gap"), ("recent round trip", "recent")):
            if (value := ping_runs.number_of(flood[digits])) is not None:
                of_flood = Result(name, value, _UNITS[flood["unit"]], line.number, "mean")
                run.results.append(of_flood)
    parts = found["values"].split("/")
    unit = _UNITS[found["first"] or found["unit"]]
    # What iputils calls mdev is a standard deviation, too.
    for name, part in zip(("min", "mean", "max", "sd"), parts, strict=False):
        value = ping_runs.number_of(part)
        if value is not None:
            run.add_statistic(name, value, unit, line)
    values = list(map(ping_runs.number_of, parts))
    if len(parts) > 3 and values[3] == 0 and found["kind"] == "stddev" and values[0] != values[2]:
        run.notes.append(
            f"line {line.number}: for times below a few hundredths of a ms some "
            "versions of ping print a deviation of 0 although the times differ"
        )


def _other_title(runs: list[ping_runs.Run], line: Line, found: re.Match[str]) -> None:
    ping_runs.going(runs, line).marks["title"] = line.number


def _other_counts(runs: list[ping_runs.Run], line: Line, found: re.Match[str]) -> None:
    """Three numbers mean this only below such a title."""
    if not runs or runs[-1].ended or "title" not in runs[-1].marks:
        return
    if line.number - runs[-1].marks["title"] <= 1:
        _counts(runs, line, found)


def _cisco_head(runs: list[ping_runs.Run], line: Line, found: re.Match[str]) -> None:
    run = ping_runs.begun(runs, line)
    run.facts["far_host"] = run.facts["far_address"] = found["host"]


def _cisco(runs: list[ping_runs.Run], line: Line, found: re.Match[str]) -> None:
    """It prints what arrived, not what was lost."""
    run = ping_runs.going(runs, line)
    run.add_counts(int(found["sent"]), int(found["got"]), line)
    run.add_total("received", int(found["share"]), "%", line.number)
    if spread := _SPREAD.search(line.text):
        _spread(runs, line, spread)


_HUAWEI_COUNTS = {
    "packet(s) transmitted": ("packets sent", "packets"),
    "packet(s) received": ("packets received", "packets"),
    "% packet loss": ("loss", "%"),
}


def _huawei_count(runs: list[ping_runs.Run], line: Line, found: re.Match[str]) -> None:
    """One of the counts, each in a line of its own below its run."""
    if runs:
        name, unit = _HUAWEI_COUNTS[found["what"]]
        runs[-1].ended = True
        runs[-1].add_total(name, float(found["value"]), unit, line.number)


def _mikrotik(runs: list[ping_runs.Run], line: Line, found: re.Match[str]) -> None:
    """It prints them each twenty lines, of all so far."""
    run = ping_runs.going(runs, line)
    run.add_counts(int(found["sent"]), int(found["got"]), line)
    run.add_loss(int(found["lost"]), line.number)
    for name in ("min", "mean", "max"):
        if found[name]:
            run.add_statistic(name, _of_parts(found[name]), "ms", line)


def _mikrotik_reply(runs: list[ping_runs.Run], line: Line, found: re.Match[str]) -> None:
    run = ping_runs.going(runs, line)
    run.facts |= {"far_address": found["host"], "message_bytes": int(found["size"])}
    run.add(_of_parts(found["time"]), "ms", line)


def _of_parts(text: str) -> float:
    """`1s20ms345us` in ms."""
    sizes = {"s": 1_000_000, "ms": 1000, "us": 1}
    return sum(int(count) * sizes[unit] for count, unit in _TIMES.findall(text)) / 1000


_ONLY_WITH: dict[ping_runs.Takes, str] = {_mikrotik_reply: "packet-loss="}
# Words, of which a line has one in which the pattern is found: change both together.
_TAKEN: tuple[ping_runs.Taken, ...] = (
    (("bytes from", "Bytes von", "octets de", "bytes de", "byte da"), _REPLY.search, _reply),
    (("icmp_seq=",), _OTHER_REPLY.search, _reply),
    (("-- somebody",), _FORGED.search, _forged),
    (("transmi", "bertragen", "trasmessi"), _COUNTS.search, _counts),
    (("Success rate",), _CISCO.search, _cisco),
    (("Sending ",), _CISCO_HEAD.match, _cisco_head),
    (("rtt ", "round-trip"), _SPREAD.search, _spread),
    (("time of day",), _STEPPED.search, _stepped),
    (("checksum mismatch",), _CHECKSUM.match, _checksum),
    (("Destination",), _UNREACHED.match, _unreached),
    (("ping statistics",), _TITLE.match, _title),
    (("--- ",), _OTHER_TITLE.match, _other_title),
    (("PING",), _HEAD.search, _head),
    (("PING6(",), _HEAD_6.search, _head),
    (("Sequence=",), _HUAWEI_REPLY.match, ping_runs.answered),
    (("% packet loss", "packet(s)"), _HUAWEI_COUNT.match, _huawei_count),
    (("packet-loss=",), _MIKROTIK.match, _mikrotik),
    (("s",), _MIKROTIK_REPLY.match, _mikrotik_reply),
    (("%",), _OTHER_COUNTS.match, _other_counts),
)
