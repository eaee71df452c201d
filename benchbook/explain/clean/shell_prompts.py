"""Command lines that a log shows behind a prompt."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator, Sequence

from benchbook.explain.lazy_regex import late
from benchbook.explain.line_index import Kinds
from benchbook.explain.model import Command, Line

# Each of the prompts below has one of these: change both together.
_WORDS = (
    *("@", "$ ", "❯ ", "» ", "% ", "# ", "PS", ":\\", "+ ", "In [", ">>>"),
    *("ommand: ", "ommand line: ", "to execute: ", "md: "),
)
_PACKAGE = late(r"@?[\w./-]{1,80}@\d[\w.-]{0,40}")  # name@version
_OF_SHELL, _LEAST_OF_PROSE = frozenset("-./=|<>$\"'_&;"), 5
_LONGEST = 4096  # characters; what is longer is no line that somebody typed
_LIKE_COMMAND = r"(?=(?!nThread )[a-z./~_\\]|[A-Z]\w*=|[A-Z]:\\|\.\\)"
_PROMPTS = (
    # user@host:~$, [user@host dir]#, (env) user@host %
    r"(?:\([\w.:/ -]{1,40}\) ?)?\[?[\w.-]{1,40}@[\w.-]{1,80}[^\n$#%>❯»]{0,120}\]? ?[$#%>❯»] ?",
    # $, ~/src $, bash-5.1$, main ❯
    r"(?:\([\w.:/ -]{1,40}\) ?)?(?:[~\w][\w./~:-]{0,80} ?)?[$❯»] +",
    r"(?:[~\w][\w./~:-]{0,80})? ?(?<!\d)% +",
    rf"(?:(?:root|bash|sh)\S{{0,80}} ?|[~/][\w./~-]{{0,80}} )?# +{_LIKE_COMMAND}",
    r"PS(?: [A-Z]:\\[^>\n]{0,120}| [/~][^>\n]{0,120})?> ?",
    r"[A-Z]:\\[^>\n]{0,120}> ?",
    rf"\++ {_LIKE_COMMAND}",  # set -x
    r"(?:In \[\d+\]: |>>> ?)!",
    r"(?:[Cc]ommand(?: line| to execute)?|[Cc]md): +",
)
# Without a prompt, as pages show it: a program that measures and an option of its own, or a
# variable before a program of this folder.
_MEASURING = (
    "fio", "hyperfine", "netperf", "iperf", "iperf3", "sockperf", "mbw", "ioping", "hdparm", "dd",
    "likwid-bench", "likwid-perfctr", "likwid-pin", "numactl", "taskset", "mpirun", "mpiexec",
    "srun", "nvbandwidth", "bandwidthTest", "sysbench", "perf", "ib_write_bw", "ib_read_bw",
    "ib_send_bw", "ib_write_lat", "ib_read_lat", "ib_send_lat", "wrk", "pyperf", "wrk2", "ab",
    "hey", "oha", "redis-benchmark", "memtier_benchmark", "pgbench", "qperf", "iozone", "mtr",
    "kafka-producer-perf-test.sh", "kafka-producer-perf-test", "kafka-run-class.sh", "ycsb",
    "mysqlslap", "cassandra-stress", "runjava", "vegeta", "h2load", "nuttcp",
)  # fmt: skip
# In scripts a launcher behind a bare # was taken out; a prompt of root may have no space behind it.
_LAUNCHERS = "mpirun|mpiexec|srun|numactl|taskset|perf|likwid"
_BARE = late(
    rf"\s{{0,8}}(?:#(?=[a-z])(?!{_LAUNCHERS}))?"
    r"((?:[A-Z][A-Z0-9_]{2,40}=\S{1,80} +){0,6}(?:(?:sudo|time)(?: -\w+)* +)?"
    rf"(?:[\w./~-]{{0,80}}/)?(?:{'|'.join(map(re.escape, _MEASURING))})"
    r"(?: +-{1,2}[A-Za-z]| +(?:if|of)=\S| +stat -"
    r"| +(?:run|load) +[a-z]| +(?:org|com)\.[a-z]"
    r"| +(?:cpu|memory|fileio|threads|mutex) (?:--|run\b)).*"
    r"|(?:[A-Z][A-Z0-9_]{2,40}=\S{1,80} +){1,6}(?:\./|/)\S.{0,400})"
)
_PROMPT = late(rf"\s{{0,8}}(?:{'|'.join(_PROMPTS)})(\S.*)")
_BARE_WORDS = (*(f"{program} " for program in _MEASURING), "= ./", " ./")
_SPECIAL = frozenset("'\"\\#")
_VARIABLE = late(r"(\w+)=(.*)", re.S)
_BEFORE = {"sudo", "env", "time", "exec", "command", "nohup"}  # what only starts another


def commands(lines: Sequence[Line], kinds: Kinds) -> Iterator[Command]:
    """What was typed in these lines, whose kinds these are, in their order; a line that ends with a
    backslash goes on in the next."""
    after = 0
    for index in kinds.lines_with((*_WORDS, *_BARE_WORDS)):
        text = lines[index].text if index >= after else ""
        prompt = _PROMPT.match(text) or _BARE.match(text) if len(text) <= _LONGEST else None
        if prompt is None:
            continue
        shown = prompt[1]
        below = lines[index + 1].text if index + 1 < len(lines) else ""
        if _is_heading(text.lstrip(), shown, below):
            continue
        after = index + 1
        while shown.endswith("\\") and len(shown) < _LONGEST and after <= len(lines):
            more = lines[after].text if after < len(lines) else ""
            shown, after = shown[:-1] + more.lstrip("> "), after + 1
        if command := _command(lines[index].number, shown):
            yield command


def _is_heading(text: str, shown: str, below: str) -> bool:
    """Whether what stands behind a `#` are only words, as in a comment, or above a block of code,
    as a title is; whether a `+` marks what npm added."""
    if text.startswith("+"):
        return _PACKAGE.fullmatch(shown.strip()) is not None
    if not text.startswith("#"):
        return False
    is_prose = shown.count(" ") >= _LEAST_OF_PROSE - 1 and _OF_SHELL.isdisjoint(shown)
    return is_prose or below.lstrip().startswith("```")


def _words(text: str) -> list[str]:
    """As a shell splits them: most lines have nothing that is special to it."""
    if text.isascii() and _SPECIAL.isdisjoint(text):
        return text.split()
    try:
        return shlex.split(text, comments=True)
    except ValueError:  # a quote that is not closed
        return text.split()


def _command(number: int, text: str) -> Command | None:
    words = _words(text)
    variables: dict[str, str] = {}
    while words and ((variable := _VARIABLE.fullmatch(words[0])) or words[0] in _BEFORE):
        if variable:
            variables[variable[1]] = variable[2]
        options_follow = words[0] == "sudo"
        words = words[1:]
        while options_follow and words and words[0].startswith("-"):
            words = words[1:]
    return Command(number, tuple(words), variables) if words else None
