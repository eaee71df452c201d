"""ping of Windows in any language: the order of its numbers is the same in all, words are not."""

from __future__ import annotations

import re

from benchbook.explain.lazy_regex import late
from benchbook.explain.model import Line, Log, Report
from benchbook.explain.readers.common import ping_runs

TOOL = ping_runs.TOOL
_HEAD = late(
    r"^\s*(?:Pinging|Ping wird ausgef\S+ f\S+r|Ping f\S+r|Envoi d.une requ\S+te '?Ping'?|"
    r"Haciendo ping a|Esecuzione di Ping|Disparando|Pingen naar|Badanie)\s+(?:sur\s+)?(?P<host>\S+)"
    r"(?:\s+\[(?P<address>[^\]]+)\])?.*?(?P<bytes>\d+)"
)
_SAYS = (
    r"Reply from|Antwort von|R\S+ponse de|Respuesta desde|Risposta da|Resposta de|Antwoord van"
    r"|Odpowied\S+ z"
)
# Those of Huawei have a sequence.
_REPLY = late(
    rf"^(?!.*Sequence=)\s*(?:{_SAYS})\s+(?P<from>\S+?)\s?:"
    r"(?:.*?=\s?(?P<size>\d++))?.*?(?P<less>[=<])\s?(?P<time>-?\d+) ?ms?\b"
)
_COUNTS = late(
    r"^\s*(?:Packets|Pakete|Paquets|Paquetes|Pacchetti|Pacotes|Pakketten|Pakiety|"
    r"\u041f\u0430\u043a\u0435\u0442\u043e\u0432)\s?: "
    r"[^=]+= (?P<sent>\d+), [^=]+= (?P<got>\d+),(?: [^=]+= (?P<gone>\d+))?"
)
# Windows has whole numbers; libraries that print after it do not.
_PERCENT = late(r"\([^()]{0,60}?(?<![\d.,])(?P<lost>-?\d+(?:[.,]\d+)?) ?%")
_TIME = r"-?\d+(?:\.\d+)?"  # below 0 where the cores' clocks differ
_MS = r" ?(?:ms|\u043c\u0441(?:\u0435\u043a)?)"
_SPREAD = late(
    r"^\s*(?:Minimum|M\S+nimo|Minimo|\u041c\u0438\u043d\u0438\u043c\u0430\u043b\u044c\u043d\u043e\u0435)"
    rf"\s?= ?(?P<min>{_TIME}){_MS}, [^=]+= {{0,2}}(?P<max>{_TIME}){_MS}, "
    rf"[^=]+= {{0,2}}(?P<mean>{_TIME}){_MS}"
)
# What a router answers in the place of the host, in any language: it has no size, no time. Windows
# counts it as received.
_ANSWER = late(
    rf"^\s*(?:{_SAYS}|\u041e\u0442\u0432\u0435\u0442 \u043e\u0442)\s+"
    r"(?P<from>[\d.]{7,15}|[\da-fA-F:]{3,45}(?:%\w{1,20})?)\s?: (?=[^\W\d_])[^=<]{4,200}$"
)
_ANY_ANSWER = late(
    r"^\s*\S{0,4} ?(?P<from>\d{1,3}(?:\.\d{1,3}){3}) (?:\u7684\u56de\u590d|"
    r"\u304b\u3089\u306e\u5fdc\u7b54) ?[:\uff1a] ?(?=[^\W\d_])[^=<]{3,100}$"
)
# What it prints where nothing came in time.
_NOTHING = late(
    r"^\s*(?:Request timed out|Zeit\S{1,4}berschreitung der Anforderung|"
    r"D\S{1,4}lai d.attente de la demande d\S{1,4}pass\S{1,4}|"
    r"Tiempo de espera agotado para esta solicitud|Richiesta scaduta|"
    r"Esgotado o tempo limite do pedido|Time-out bij opdracht|"
    r"\u041f\u0440\u0435\u0432\u044b\u0448\u0435\u043d |"
    r"\u8bf7\u6c42\u8d85\u65f6|\u8981\u6c42\u304c\u30bf\u30a4\u30e0\u30a2\u30a6\u30c8)"
)
_NOTHINGS = (
    "timed out",
    "berschreitung",
    "attente",
    "agotado",
    "scaduta",
    "Esgotado",
    "Time-out",
    "\u041f\u0440\u0435\u0432\u044b\u0448\u0435\u043d",
    "\u8d85\u65f6",
    "\u30bf\u30a4\u30e0",
)
# Of the languages that are not above: what stands between the numbers is passed over.
_ANY_REPLY = late(
    r"(?<![\w.:])(?P<from>\d{1,3}(?:\.\d{1,3}){3}|(?=[\da-f]{0,4}:)[\da-f:]{3,45})[^=<]{0,40}"
    r"=\s?(?P<size>\d+)\s[^=<]{0,20}(?P<less>[=<])\s?(?P<time>-?\d+) ?(?:ms|\u043c\u0441)\s+TTL=\d"
)
_ANY_COUNTS = late(
    r"^\s*[^=\d]{1,40}= ?(?P<sent>\d+)[^=\d]{1,30}= ?(?P<got>\d+)[^=\d]{1,30}= ?(?P<gone>\d+)"
)
# Above the counts of such a language, where no reply has told it.
_ANY_TITLE = late(
    r"^(?=.{0,99}[^\x00-\x7f])(?=.{0,99}[Pp]ing)[^=]{0,40}?(?<![\w.])"
    r"(?P<host>\d{1,3}(?:\.\d{1,3}){3})(?!\.?\d)[^=\d]{0,40}[:\uff1a]\s*$"
)
_ANY_SPREAD = late(
    r"^\s*[^=\d]{1,30}= ?(?P<min>-?\d+) ?(?:ms|\u043c\u0441)[^=\d]{1,30}= ?(?P<max>-?\d+) ?"
    r"(?:ms|\u043c\u0441)[^=\d]{1,30}= ?(?P<mean>-?\d+) ?(?:ms|\u043c\u0441)"
)
_REPLIES = (
    "Reply from",
    "Antwort von",
    "ponse de",
    "Respuesta desde",
    "Risposta da",
    "Resposta de",
    "Antwoord van",
    "Odpowied",
)
_SUMS = ("Pac", "Pak", "Paq")
_TRANSLATED = "TTL="  # in replies of languages that are not known here
_NEAR = 4  # lines from counts to times


def read(log: Log) -> list[Report]:
    """One report for each start; without a head the sums end one."""
    return ping_runs.read_by(log, _TAKEN, _ONLY_WITH)


def _answer(runs: list[ping_runs.Run], line: Line, found: re.Match[str]) -> None:
    run = ping_runs.going(runs, line)
    run.count("answers_of_others")
    run.facts.setdefault("answered_in_line", line.number)


def _nothing(runs: list[ping_runs.Run], line: Line, found: re.Match[str]) -> None:
    ping_runs.going(runs, line).count("timed_out")


def _counts(runs: list[ping_runs.Run], line: Line, found: re.Match[str]) -> None:
    """The share that was lost is behind them or in the next line."""
    run = ping_runs.going(runs, line)
    run.add_counts(int(found["sent"]), int(found["got"]), line)
    run.marks["counts"] = line.number
    if percent := _PERCENT.search(line.text, found.end()):
        _lost(run, percent, line.number)
    else:
        run.marks["unshared"] = line.number


def _share(runs: list[ping_runs.Run], line: Line, found: re.Match[str]) -> None:
    """What of the line before was lost."""
    if runs and line.number - runs[-1].marks.get("unshared", -1) == 1:
        _lost(runs[-1], found, runs[-1].marks.pop("unshared"))


def _lost(run: ping_runs.Run, found: re.Match[str], number: int) -> None:
    if (share := ping_runs.number_of(found["lost"])) is not None:
        run.add_loss(share, number)


def _spread(runs: list[ping_runs.Run], line: Line, found: re.Match[str]) -> None:
    run = ping_runs.untold(runs, line)
    for name in ("min", "mean", "max"):
        run.add_statistic(name, float(found[name]), "ms", line)


def _any_reply(runs: list[ping_runs.Run], line: Line, found: re.Match[str]) -> None:
    ping_runs.answered(runs, line, found)
    runs[-1].marks["translated"] = line.number


def _any_counts(runs: list[ping_runs.Run], line: Line, found: re.Match[str]) -> None:
    """Three numbers mean this only below replies of such a language."""
    if runs and "translated" in runs[-1].marks and not runs[-1].ended:
        _counts(runs, line, found)


def _any_title(runs: list[ping_runs.Run], line: Line, found: re.Match[str]) -> None:
    run = ping_runs.going(runs, line)
    run.facts.setdefault("far_address", found["host"])
    run.marks["titled"] = line.number


def _titled_counts(runs: list[ping_runs.Run], line: Line, found: re.Match[str]) -> None:
    """Of a run without replies they stand in the line below its title."""
    run = runs[-1] if runs else None
    if run and not run.ended and line.number - run.marks.get("titled", -9) <= 1:
        _counts(runs, line, found)
    elif percent := _PERCENT.search(line.text):
        _share(runs, line, percent)


def _any_spread(runs: list[ping_runs.Run], line: Line, found: re.Match[str]) -> None:
    marks = runs[-1].marks if runs else {}
    if "translated" in marks and line.number - marks.get("counts", 0) <= _NEAR:
        _spread(runs, line, found)


# What means this only in a log that has that word, too.
_ONLY_WITH: dict[ping_runs.Takes, str] = {_any_spread: _TRANSLATED, _any_counts: _TRANSLATED}
# Words, of which a line has one in which the pattern is found: change both together.
_TAKEN: tuple[ping_runs.Taken, ...] = (
    (_REPLIES, _REPLY.match, ping_runs.answered),
    ((*_REPLIES, "\u041e\u0442\u0432\u0435\u0442"), _ANSWER.match, _answer),
    (("\u7684\u56de\u590d", "\u304b\u3089\u306e\u5fdc\u7b54"), _ANY_ANSWER.match, _answer),
    (("Ping", "ping a", "Disparando", "Badanie"), _HEAD.match, ping_runs.headed),
    ((*_SUMS, "\u041f\u0430\u043a\u0435\u0442\u043e\u0432"), _COUNTS.match, _counts),
    (
        ("Minimum", "nimo", "\u041c\u0438\u043d\u0438\u043c\u0430\u043b\u044c"),
        _SPREAD.match,
        _spread,
    ),
    ((_TRANSLATED,), _ANY_REPLY.search, _any_reply),
    (("ms", "\u043c\u0441"), _ANY_SPREAD.match, _any_spread),
    (("=",), _ANY_COUNTS.match, _any_counts),
    (_NOTHINGS, _NOTHING.match, _nothing),
    (("ping", "Ping"), _ANY_TITLE.match, _any_title),
    (("%",), _ANY_COUNTS.match, _titled_counts),
    (("%",), _PERCENT.search, _share),
)
