"""ping: iputils, busybox, BSD, macOS and Solaris, GNU inetutils, routers of Cisco, Huawei and
MikroTik, Windows; those of iputils and Windows in any language; fping."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

from benchbook.importers import Line, Log, Report, Result
from benchbook.logs.printed import LONGEST

TOOL = "ping"
LOOKS_FOR = "ping: `64 bytes from ... time=0.045 ms`, `rtt min/avg/max/mdev = ...`, of Windows too"
_HEAD = re.compile(
    r"\bPING6? (?P<host>[^\s(]+)(?:\s*\((?P<address>[^)]+)\))?.*?"
    r"(?P<bytes>\d+)(?:\(\d+\) |(?: data)? (?:[Bb]ytes|octets))"
)
_FROM = re.compile(r"\) from (?P<address>[\da-fA-F.:]+)(?: (?P<device>[\w.@-]+))?: ")
_HEAD_6 = re.compile(r"\bPING6\(\d+=40\+8\+(?P<bytes>\d+) bytes\) \S+ --> (?P<host>\S+)")
_REPLY = re.compile(
    r"(?<!\d)(?P<size>\d+) (?:bytes from|Bytes von|octets de|bytes desde|byte da|bytes de) "
    r"(?P<from>[^\s,]+?)(?: \((?P<address>[^)]+)\))?\s?[:,].*?"
    r"\b(?:icmp_)?seq[= ](?P<number>\d+).*?\b(?:time|Zeit|temps|tiempo|tempo)[=<] ?"
    r"(?P<time>-?\d[\d.,]*) ?(?P<unit>ms|us|µs|usec|s)\b"
)
# The same of today's iputils, as nearly all are: in a third of the time.
_USUAL = re.compile(
    r"\d+ bytes from [^\s,:]+(?: \([^)\s]+\))?: icmp_seq=\d+ ttl=\d+ time=(\d+(?:\.\d+)?) ms"
)
_COUNTS = re.compile(
    r"(?<!\d)(?P<sent>\d+) (?:packets? transmitted|Pakete? \S+bertragen|paquets? transmis|"
    r"pa(?:que|co)tes? transmitidos?|pacchetti trasmessi), (?P<got>\d+) (?:(?:packets? )?received|"
    r"empfangen|re\S+us?|rec[ei]bidos?|ricevuti).*?(?P<lost>-?\d[\d.,]*) ?%"
    r"(?:[^,]*, (?:time|Zeit|temps|tiempo|tempo) (?P<took>\d+) ?ms)?"
)
_MS = "ms|\u043c\u0441|\u6beb\u79d2|\u30df\u30ea\u79d2|\ubc00\ub9ac\ucd08"
# Solaris names the unit first; French has moy, not avg, and Turkish but mdev of these words.
_SPREAD = re.compile(
    r"(?:rtt|round-trip)(?: \((?P<first>ms)\))?\s+(?:min/(?:avg|\w{3,8})/max"
    r"(?:/(?P<kind>mdev|std-?dev))?|[^=/\d]{2,20}(?:/[^=/\d]{2,20}){2}/mdev)\s*="
    r"\s*(?P<values>-?[\d.,na]+(?:/-?[\d.,na]+){2,3})"
    rf"(?(first)|\s*(?P<unit>{_MS}|us|s)\b)"
)
_CISCO = re.compile(r"Success rate is \d{1,3} percent \((?P<got>\d{1,9})/(?P<sent>\d{1,9})\)")
_CISCO_HEAD = re.compile(r"^\s*Sending \d+, \d+-byte ICMP Echos to (?P<host>\S+), timeout")
_STEPPED = re.compile(r"[Ww]arning: time of day goes back \((?P<back>-?\d{1,15}) ?(?P<unit>u?s)\)")
_ALONE = re.compile(  # Huawei
    r"^\s*(?P<value>\d+(?:\.\d+)?) ?(?P<what>packet\(s\) transmitted|packet\(s\) received"
    r"|% packet loss)\s*$"
)
_TIME = r"(?:\d{1,9}s)?(?:\d{1,9}ms)?(?:\d{1,9}us)?"
_MIKROTIK = re.compile(
    r"^\s*sent=(?P<sent>\d+) received=(?P<got>\d+) packet-loss=(?P<lost>\d+)%"
    rf"(?: min-rtt=(?P<min>{_TIME}) avg-rtt=(?P<mean>{_TIME}) max-rtt=(?P<max>{_TIME})(?!\S))?"
)
_MIKROTIK_REPLY = re.compile(
    rf"^\s*\d+ (?P<host>[\w.:-]+) +(?P<size>\d+) +\d+ +(?P<time>(?=\d){_TIME})\s*$"
)
_TIMES = re.compile(r"(\d+)(s|ms|us)")
_TITLE = re.compile(r"^\s*--- (?P<host>\S+) ping statistics ---")
# iputils in the languages that are not above: names and units of a reply, and the order of what
# follows its title, are the same in all.
_OTHER_REPLY = re.compile(
    r"(?<!\S)(?P<size>\d{1,5}) [^\s=][^=]{0,40}?(?<!\S)(?P<from>[\w.:%-]{1,255}?)"
    r"(?: \((?P<address>[^)\s]{1,50})\))?(?:'\w{1,6})? ?[:\uff1a] icmp_seq=(?P<number>\d+)"
    r"(?: ident=\d+)? ttl=\d+ "
    rf"[^\s=]{{1,20}}=(?P<time>\d[\d.,]*) ?(?P<unit>{_MS})(?!\w)"
)
_OTHER_TITLE = re.compile(r"^\s*--- (?=.{0,200}[Pp]ing)[^,]{3,200} ---$")
_OTHER_COUNTS = re.compile(
    r"^[^\d%]{0,30}(?P<sent>\d+)[^\d%]{1,30}(?P<got>\d+)\D.{0,80}?(?<![\d.,])"
    r"(?P<before>%)?(?P<lost>\d{1,3}(?:[.,]\d+)?)(?(before)| ?%)"
)
_FPING = re.compile(
    r"^\s*(?P<host>\S+)\s*: xmt/rcv/%loss = (?P<sent>\d+)/(?P<got>\d+)/(?P<lost>\d+)%"
    r"(?:, min/avg/max = (?P<values>\d+(?:\.\d+)?(?:/\d+(?:\.\d+)?){2}))?"
)
_FPING_ALIVE = re.compile(r"^\s*(?P<host>\S+)(?: \(\S+\))? is alive \((?P<time>\d+(?:\.\d+)?) ms\)")
# All times of a host, of -C; only where somebody says fping.
_FPING_TIMES = re.compile(
    r"^\s*(?P<host>\S+)\s*: (?P<times>(?:-|\d+(?:\.\d+)?)(?: (?:-|\d+(?:\.\d+)?))+)$"
)
_FPING_REPLY = re.compile(
    r"^\s*(?P<host>\S+)\s*: \[(?P<number>\d+)\], (?P<size>\d+) bytes, (?P<time>\d+(?:\.\d+)?) ms"
)
# Of Windows the order is the same in every language, the words are not.
_WINDOWS_HEAD = re.compile(
    r"^\s*(?:Pinging|Ping wird ausgef\S+ f\S+r|Ping f\S+r|Envoi d.une requ\S+te '?Ping'?|"
    r"Haciendo ping a|Esecuzione di Ping|Disparando|Pingen naar|Badanie)\s+(?:sur\s+)?(?P<host>\S+)"
    r"(?:\s+\[(?P<address>[^\]]+)\])?.*?(?P<bytes>\d+)"
)
_WINDOWS_REPLY = re.compile(
    r"^\s*(?:Reply from|Antwort von|R\S+ponse de|Respuesta desde|Risposta da|Resposta de|"
    r"Antwoord van|Odpowied\S+ z)\s+(?P<from>\S+?)\s?:"
    r"(?:.*?=\s?(?P<size>\d+))?.*?(?P<less>[=<])\s?(?P<time>\d+) ?ms?\b"
)
_WINDOWS_COUNTS = re.compile(
    r"^\s*(?:Packets|Pakete|Paquets|Paquetes|Pacchetti|Pacotes|Pakketten|Pakiety|"
    r"\u041f\u0430\u043a\u0435\u0442\u043e\u0432)\s?: "
    r"[^=]+= (?P<sent>\d+), [^=]+= (?P<got>\d+),(?: [^=]+= (?P<gone>\d+))?"
)
_WINDOWS_PERCENT = re.compile(r"\([^()]{0,60}?(?P<lost>-?\d+) ?%")
_OF_WINDOWS = r" ?(?:ms|\u043c\u0441(?:\u0435\u043a)?)"
_WINDOWS_SPREAD = re.compile(
    r"^\s*(?:Minimum|M\S+nimo|Minimo|\u041c\u0438\u043d\u0438\u043c\u0430\u043b\u044c\u043d\u043e\u0435)"
    rf"\s?= ?(?P<min>\d+){_OF_WINDOWS}, [^=]+= {{0,2}}(?P<max>\d+){_OF_WINDOWS}, "
    rf"[^=]+= {{0,2}}(?P<mean>\d+){_OF_WINDOWS}"
)
# Of the languages that are not above: what stands between the numbers is passed over.
_ANY_REPLY = re.compile(
    r"(?<![\w.:])(?P<from>\d{1,3}(?:\.\d{1,3}){3}|(?=[\da-f]{0,4}:)[\da-f:]{3,45})[^=<]{0,40}"
    r"=\s?(?P<size>\d+)\s[^=<]{0,20}(?P<less>[=<])\s?(?P<time>\d+) ?(?:ms|\u043c\u0441)\s+TTL=\d"
)
_ANY_COUNTS = re.compile(
    r"^\s*[^=\d]{1,40}= ?(?P<sent>\d+)[^=\d]{1,30}= ?(?P<got>\d+)[^=\d]{1,30}= ?(?P<gone>\d+)"
)
_ANY_SPREAD = re.compile(
    r"^\s*[^=\d]{1,30}= ?(?P<min>\d+) ?(?:ms|\u043c\u0441)[^=\d]{1,30}= ?(?P<max>\d+) ?"
    r"(?:ms|\u043c\u0441)[^=\d]{1,30}= ?(?P<mean>\d+) ?(?:ms|\u043c\u0441)"
)
WORDS = (
    "bytes from",
    "min/avg/max",
    "rtt min/",
    "round-trip",
    "icmp_seq=",
    "is alive (",
    "packet-loss=",
    "transmitted",
    "ping",
    "Ping",
    "PING",
    "xmt/rcv",
    "ms",
    "TTL=",
)
SIGNS = re.compile(
    r"TTL=\d|bytes from|min/avg/max|rtt min/|round-trip|icmp_seq=|is alive \(|packet-loss="
    r"|packets? transmitted|[Pp]ing|PING|xmt/rcv|= ?\d+ ?ms, [^=]+= ?\d+ ?ms"
    r"|=\d+ .*[=<]\d+ ?ms"
)
_TRANSLATED = "TTL="  # in replies of languages that are not known here
_Finds = Callable[[str], re.Match[str] | None]
_Takes = Callable[[Log, list["_Run"], Line, re.Match[str]], None]
_Taken = tuple[Sequence[str], _Finds, _Takes]
_UNITS = {"us": "us", "µs": "us", "usec": "us", "s": "s"} | dict.fromkeys(_MS.split("|"), "ms")
_HOSTS = 64
_NEAR = 4  # lines from counts to times
_HEADER_BYTES = 8  # of ICMP, in the size that a reply has


@dataclass
class _Run:
    """The lines of one start."""

    line: int
    results: list[Result] = field(default_factory=list)
    facts: dict[str, Any] = field(default_factory=dict)
    notes: list[str] = field(default_factory=list)
    replies: int = 0
    ended: bool = False
    ended_at: int = 0
    titled_at: int = 0  # in a language whose words are not known here
    unshared: int = 0  # the line of counts whose share is in the next
    told: bool = False  # its minimum, mean and maximum
    parallel: bool = False  # with others, whose lines are between its own
    translated: bool = False  # Windows in a language whose words are not known here

    @property
    def is_alone(self) -> bool:
        """Whether the next reply is one of its own, whoever sends it."""
        return self.replies > 0 and not self.ended and not self.parallel


def read(log: Log) -> list[Report]:
    """One report for each start; without a head, a title or the sums end one."""
    runs: list[_Run] = []
    # Patterns of which the log has no word are not tried, lines that have none are not looked at.
    present = [([one for one in words if one in log.text], *rest) for words, *rest in _TAKEN]
    asked = [
        (words, find, taken)
        for words, find, taken in present
        if words and (taken not in _ONLY_WITH or _ONLY_WITH[taken] in log.text)
    ]
    for line in log.having(*{word: None for words, *_ in asked for word in words}):
        text = line.text
        if runs and runs[-1].is_alone and (usual := _USUAL.fullmatch(text)):
            _add(runs[-1], float(usual[1]), "ms", line)
            continue
        _take(log, runs, line, asked)
    return [_report(run) for run in runs if run.results]


def _take(log: Log, runs: list[_Run], line: Line, asked: Sequence[_Taken]) -> None:
    """What the first of these patterns finds in a line."""
    text = line.text
    if len(text) > LONGEST:
        return
    for words, find, taken in asked:
        for word in words:
            if word in text:
                break
        else:
            continue
        if found := find(text):
            taken(log, runs, line, found)
            break


def _number(text: str) -> float | None:
    """A number as ping prints it: a comma in it is of decimals, for it groups no digits."""
    try:
        return float(text.replace(",", "."))
    except ValueError:
        return None


def _run(runs: list[_Run], line: Line, *, anew: bool = False) -> _Run:
    if not runs or anew:
        runs.append(_Run(line.number))
    return runs[-1]


def _open(runs: list[_Run], fact: str, value: str) -> _Run | None:
    """The run of which this is true and which has not ended, made the last one: of several at the
    same time, each goes on between the others' lines."""
    for back, run in enumerate(reversed(runs[-_HOSTS:]), 1):
        if not run.ended and run.facts.get(fact) == value:
            if back > 1:
                runs.append(runs.pop(-back))
            return run
    return None


def _head(log: Log, runs: list[_Run], line: Line, found: re.Match[str]) -> None:
    others = [one for one in runs[-_HOSTS:] if not one.ended]
    run = _run(runs, line, anew=True)
    for one in [*others, run] if others else []:
        one.parallel = True
    named = found.groupdict()
    run.facts["message_bytes"] = int(named["bytes"])
    run.facts["far_host"] = named["host"]
    run.facts["far_address"] = named.get("address") or named["host"]
    if near := _FROM.search(line.text):
        run.facts |= {"near_address": near["address"]}
        if near["device"]:
            run.facts["device"] = near["device"]


def _reply(log: Log, runs: list[_Run], line: Line, found: re.Match[str]) -> None:
    """Of Unix, whose sizes have the header in them."""
    size, name, address, _, time, unit = found.groups()
    _took(log, runs, line, time, _UNITS[unit], int(size) - _HEADER_BYTES, address or name)


def _windows_reply(log: Log, runs: list[_Run], line: Line, found: re.Match[str]) -> None:
    name, size, less, time = found.group("from", "size", "less", "time")
    _took(log, runs, line, time, "ms", int(size) if size else None, name, at_most=less == "<")


def _took(
    log: Log,
    runs: list[_Run],
    line: Line,
    printed: str,
    unit: str,
    size: int | None,
    address: str,
    *,
    at_most: bool = False,
) -> None:
    """A reply, and what it tells of its run."""
    time = _number(printed)
    if time is None:
        return
    run = _open(runs, "far_address", address)
    run = run or _run(runs, line, anew=bool(runs) and runs[-1].ended)
    if size is not None and "message_bytes" not in run.facts:
        run.facts["message_bytes"] = size
    if "far_address" not in run.facts:
        run.facts["far_address"] = address
    _add(run, time, unit, line)
    if at_most:
        run.results[-1].of = {**run.results[-1].of, "at_most": True}


def _add(run: _Run, time: float, unit: str, line: Line) -> None:
    of = {"repetition": run.replies}
    run.replies += 1
    run.results.append(Result("round trip", time, unit, line.number, "sample", of))


def _stepped(log: Log, runs: list[_Run], line: Line, found: re.Match[str]) -> None:
    """The longest of the steps that its clock made."""
    run = _run(runs, line, anew=bool(runs) and runs[-1].ended)
    step = abs(int(found["back"])) * (1000 if found["unit"] == "us" else 10**9)
    if step > run.facts.get("clock_step_ns", 0):
        run.facts |= {"clock_step_ns": step, "clock_step_line": line.number}


def _title(log: Log, runs: list[_Run], line: Line, found: re.Match[str]) -> None:
    run = _open(runs, "far_host", found["host"])
    run = run or _run(runs, line, anew=bool(runs) and runs[-1].ended)
    run.facts.setdefault("far_host", found["host"])


def _counts(log: Log, runs: list[_Run], line: Line, found: re.Match[str]) -> None:
    run = _run(runs, line, anew=bool(runs) and runs[-1].ended)
    run.ended, run.ended_at = True, line.number
    named = found.groupdict()
    sent, got = int(named["sent"]), int(named["got"])
    run.results += [
        Result("packets sent", sent, "packets", line.number, "total"),
        Result("packets received", got, "packets", line.number, "total"),
    ]
    percent: re.Match[str] | None = found
    if "gone" in named:  # Windows puts the share there or into the next line
        percent = _WINDOWS_PERCENT.search(line.text, found.end())
        run.unshared = 0 if percent else line.number
    if percent:
        _lost(run, line.number, percent)
    if named.get("took"):
        run.facts["took_ms"] = int(named["took"])


def _lost(run: _Run, number: int, found: re.Match[str]) -> None:
    if (lost := _number(found["lost"])) is not None:
        run.results.append(Result("loss", lost, "%", number, "total"))


def _share(log: Log, runs: list[_Run], line: Line, found: re.Match[str]) -> None:
    """What of the line before was lost."""
    if runs and runs[-1].unshared and line.number - runs[-1].unshared <= 1:
        _lost(runs[-1], runs[-1].unshared, found)
        runs[-1].unshared = 0


def _told(runs: list[_Run], line: Line) -> _Run:
    """The run whose minimum, mean and maximum these are: each has them once, and people make
    lists of such lines."""
    run = _run(runs, line, anew=bool(runs) and runs[-1].told)
    run.ended = run.told = True
    return run


def _spread(log: Log, runs: list[_Run], line: Line, found: re.Match[str]) -> None:
    run = _told(runs, line)
    parts = found["values"].split("/")
    unit = _UNITS[found["first"] or found["unit"]]
    of = _of_all(run)
    # What iputils calls mdev is a standard deviation, too.
    for name, part in zip(("min", "mean", "max", "sd"), parts, strict=False):
        value = _number(part)
        if value is not None:
            run.results.append(Result("round trip", value, unit, line.number, name, of))
    if len(parts) > 3 and _no_spread(parts) and found["kind"] == "stddev":
        run.notes.append(
            f"line {line.number}: a deviation of 0 beside a minimum below the maximum is what some "
            "versions of ping print for times below a few hundredths of a ms"
        )


def _no_spread(parts: list[str]) -> bool:
    least, most, spread = (_number(parts[one]) for one in (0, 2, 3))
    return spread == 0 and least is not None and most is not None and least < most


def _windows_spread(log: Log, runs: list[_Run], line: Line, found: re.Match[str]) -> None:
    run = _told(runs, line)
    for name in ("min", "mean", "max"):
        value = float(found[name])
        run.results.append(Result("round trip", value, "ms", line.number, name, _of_all(run)))


def _other_title(log: Log, runs: list[_Run], line: Line, found: re.Match[str]) -> None:
    run = _run(runs, line, anew=bool(runs) and runs[-1].ended)
    run.titled_at = line.number


def _other_counts(log: Log, runs: list[_Run], line: Line, found: re.Match[str]) -> None:
    """Three numbers mean this only below such a title."""
    if not runs or runs[-1].ended or not runs[-1].titled_at:
        return
    if line.number - runs[-1].titled_at <= 1:
        _counts(log, runs, line, found)


def _cisco_head(log: Log, runs: list[_Run], line: Line, found: re.Match[str]) -> None:
    run = _run(runs, line, anew=True)
    run.facts["far_host"] = run.facts["far_address"] = found["host"]


def _cisco(log: Log, runs: list[_Run], line: Line, found: re.Match[str]) -> None:
    """It prints what arrived, not what was lost."""
    run = _run(runs, line, anew=bool(runs) and runs[-1].ended)
    run.ended = True
    for name, key in (("packets sent", "sent"), ("packets received", "got")):
        run.results.append(Result(name, int(found[key]), "packets", line.number, "total"))
    if spread := _SPREAD.search(line.text):
        _spread(log, runs, line, spread)


def _alone(log: Log, runs: list[_Run], line: Line, found: re.Match[str]) -> None:
    """One of the counts, each in a line of its own below its run."""
    value = float(found["value"])
    if not runs:
        return
    runs[-1].ended = True
    if found["what"].startswith("%"):
        runs[-1].results.append(Result("loss", value, "%", line.number, "total"))
    else:
        name = "packets sent" if found["what"].endswith("transmitted") else "packets received"
        runs[-1].results.append(Result(name, value, "packets", line.number, "total"))


def _counted(run: _Run, line: Line, found: re.Match[str]) -> None:
    """Packets and their loss, all in one line."""
    for name, key, unit in (
        ("packets sent", "sent", "packets"),
        ("packets received", "got", "packets"),
        ("loss", "lost", "%"),
    ):
        run.results.append(Result(name, int(found[key]), unit, line.number, "total"))


def _mikrotik(log: Log, runs: list[_Run], line: Line, found: re.Match[str]) -> None:
    """It prints them each twenty lines, of all so far."""
    run = _run(runs, line, anew=bool(runs) and runs[-1].ended)
    run.ended = True
    _counted(run, line, found)
    for name in ("min", "mean", "max"):
        if found[name]:
            value = _of_parts(found[name])
            run.results.append(Result("round trip", value, "ms", line.number, name, _of_all(run)))


def _mikrotik_reply(log: Log, runs: list[_Run], line: Line, found: re.Match[str]) -> None:
    run = _run(runs, line, anew=bool(runs) and runs[-1].ended)
    run.facts |= {"far_address": found["host"], "message_bytes": int(found["size"])}
    _add(run, _of_parts(found["time"]), "ms", line)


def _of_parts(text: str) -> float:
    """`1s20ms345us` in ms."""
    sizes = {"s": 1_000_000, "ms": 1000, "us": 1}
    return sum(int(count) * sizes[unit] for count, unit in _TIMES.findall(text)) / 1000


def _any_reply(log: Log, runs: list[_Run], line: Line, found: re.Match[str]) -> None:
    _windows_reply(log, runs, line, found)
    runs[-1].translated = True


def _any_counts(log: Log, runs: list[_Run], line: Line, found: re.Match[str]) -> None:
    """Three numbers mean this only below replies of such a language."""
    if runs and runs[-1].translated and not runs[-1].ended:
        _counts(log, runs, line, found)


def _any_spread(log: Log, runs: list[_Run], line: Line, found: re.Match[str]) -> None:
    if runs and runs[-1].translated and line.number - runs[-1].ended_at <= _NEAR:
        _windows_spread(log, runs, line, found)


def _of_host(runs: list[_Run], line: Line, host: str) -> _Run:
    """fping asks many hosts in turn: the run of this one among the last ones."""
    for run in reversed(runs[-_HOSTS:]):
        if run.facts.get("far_host") == host and not run.ended:
            return run
    return _run(runs, line, anew=True)


def _fping(log: Log, runs: list[_Run], line: Line, found: re.Match[str]) -> None:
    run = _of_host(runs, line, found["host"])
    run.facts |= {"far_host": found["host"], "far_address": found["host"]}
    run.ended = True
    _counted(run, line, found)
    for name, part in zip(("min", "mean", "max"), (found["values"] or "").split("/"), strict=False):
        if part:
            value = float(part)
            run.results.append(Result("round trip", value, "ms", line.number, name, _of_all(run)))


def _fping_reply(log: Log, runs: list[_Run], line: Line, found: re.Match[str]) -> None:
    run = _of_host(runs, line, found["host"])
    run.facts["far_host"] = run.facts["far_address"] = found["host"]
    columns = {"repetition": run.replies}
    run.replies += 1
    time = float(found["time"])
    run.results.append(Result("round trip", time, "ms", line.number, "sample", columns))


def _fping_times(log: Log, runs: list[_Run], line: Line, found: re.Match[str]) -> None:
    """Of a host whose replies are not in lines of their own."""
    host = found["host"]
    if any(run.replies and run.facts.get("far_host") == host for run in runs[-_HOSTS:]):
        return
    run = _run(runs, line, anew=True)
    run.facts |= {"far_host": host, "far_address": host}
    run.ended = True
    for time in found["times"].split():
        if time != "-":
            _add(run, float(time), "ms", line)


def _fping_alive(log: Log, runs: list[_Run], line: Line, found: re.Match[str]) -> None:
    """One exchange, and nothing else."""
    run = _run(runs, line, anew=True)
    run.facts |= {"far_host": found["host"], "far_address": found["host"]}
    run.ended = True
    _add(run, float(found["time"]), "ms", line)


def _of_all(run: _Run) -> dict[str, Any]:
    """How many replies a statistic is of."""
    got = [one.value for one in run.results if one.name == "packets received"]
    return {"repetitions": round(got[-1])} if got else {}


def _report(run: _Run) -> Report:
    notes = list(run.notes)
    if not run.ended:
        notes.append("its statistics are not in the log: the tail is missing")
    return Report(TOOL, run.results, run.line, "", run.facts, notes)


# What means this only in a log that has that word, too.
_ONLY_WITH: dict[_Takes, str] = {
    _any_spread: _TRANSLATED,
    _any_counts: _TRANSLATED,
    _fping_times: "fping",
    _mikrotik_reply: "packet-loss=",
}
# Words, of which a line has one in which the pattern is found: change both together.
_TAKEN: tuple[_Taken, ...] = (
    (("bytes from", "Bytes von", "octets de", "bytes de", "byte da"), _REPLY.search, _reply),
    (("icmp_seq=",), _OTHER_REPLY.search, _reply),
    (("transmi", "bertragen", "trasmessi"), _COUNTS.search, _counts),
    (("Success rate",), _CISCO.search, _cisco),
    (("Sending ",), _CISCO_HEAD.match, _cisco_head),
    (("rtt ", "round-trip"), _SPREAD.search, _spread),
    (("time of day",), _STEPPED.search, _stepped),
    (("ping statistics",), _TITLE.match, _title),
    (("--- ",), _OTHER_TITLE.match, _other_title),
    (("PING",), _HEAD.search, _head),
    (("PING6(",), _HEAD_6.search, _head),
    (
        (
            "Reply from",
            "Antwort von",
            "ponse de",
            "Respuesta desde",
            "Risposta da",
            "Resposta de",
            "Antwoord van",
            "Odpowied",
        ),
        _WINDOWS_REPLY.match,
        _windows_reply,
    ),
    (("Ping", "ping a", "Disparando", "Badanie"), _WINDOWS_HEAD.match, _head),
    (
        ("Pac", "Pak", "Paq", "\u041f\u0430\u043a\u0435\u0442\u043e\u0432"),
        _WINDOWS_COUNTS.match,
        _counts,
    ),
    (
        ("Minimum", "nimo", "\u041c\u0438\u043d\u0438\u043c\u0430\u043b\u044c"),
        _WINDOWS_SPREAD.match,
        _windows_spread,
    ),
    ((_TRANSLATED,), _ANY_REPLY.search, _any_reply),
    (("ms", "\u043c\u0441"), _ANY_SPREAD.match, _any_spread),
    (("=",), _ANY_COUNTS.match, _any_counts),
    (("xmt/rcv",), _FPING.match, _fping),
    (("is alive (",), _FPING_ALIVE.match, _fping_alive),
    (("% packet loss", "packet(s)"), _ALONE.match, _alone),
    (("packet-loss=",), _MIKROTIK.match, _mikrotik),
    (("s",), _MIKROTIK_REPLY.match, _mikrotik_reply),
    ((" : ", ": "), _FPING_TIMES.match, _fping_times),
    ((" bytes, ",), _FPING_REPLY.match, _fping_reply),
    (("%",), _OTHER_COUNTS.match, _other_counts),
    (("%",), _WINDOWS_PERCENT.search, _share),
)
