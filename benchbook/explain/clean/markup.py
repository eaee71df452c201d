"""Text out of HTML and Markdown, and out of what wrote it into its own lines: quoting of mails,
stamps and names of jobs that continuous integration, containers and system logs put before lines.

Each step keeps the lines of the file; where there is nothing for it to do it costs a search.
"""

from __future__ import annotations

import html
import re
from itertools import groupby, pairwise
from operator import ne

from benchbook.explain.clean.comments import may_be_commented, uncommented
from benchbook.explain.clean.encodings import SOFT
from benchbook.explain.clean.inline_code import without_inline_code
from benchbook.explain.lazy_regex import late
from benchbook.explain.line_index import has

_IS_PAGE = late(r"<(?:pre|html|body|code|br|td|div|span|samp|kbd|p)\b[^<>\n]{0,500}>", re.I)
_HIDDEN = late(r"<(script|style|title)\b[^<>]{0,500}>.*?(?:</\1\s*>|\Z)", re.I | re.S)
# A row of Markdown is one line, whatever breaks its cells have.
_ROW_OF_BARS = late(r"^[ \t>]*\|[^\n]*<br[^\n]*$", re.I | re.M)
_BREAK_IN_ROW = late(r" *<br */?> *", re.I)
_BREAKS = late(r"<(?:br|/p|/tr|/div|/li|/h[1-6]|/pre|pre|p|div)\b[^<>\n]{0,500}>", re.I)
# What a row has between its cells, if they are in one line; tables with heads are tables of text.
_CELLS = late(r"</t[dh]\s{0,8}>[ \t]{0,80}<t[dh]\b[^<>\n]{0,500}>", re.I)
_HEADED = late(r"<th\b", re.I)
_TAGS = late(
    r"</?(?:a|abbr|b|blockquote|body|br|button|code|dd|div|dl|dt|em|font|h[1-6]|head|header|hr|html"
    r"|i|img|ins|kbd|li|link|main|meta|nav|ol|p|path|pre|s|samp|section|small|span|strong|sub|sup"
    r"|svg|table|tbody|td|tfoot|th|thead|tr|tt|u|ul|var)\b[^<>\n]{0,2000}>"
    r"|<!--(?:(?!<!--)[^\n]){0,2000}?-->|<!DOCTYPE[^<>\n]{0,500}>",
    re.I,
)
_ENTITY = late(
    r"&(?:lt|gt|amp|quot|apos|nbsp|micro|mu|plusmn|times|sigma|hellip|equiv|minus|[mn]dash"
    r"|#\d{1,7}|#x[\da-f]{1,6});",
    re.I,
)

_ISO = r"\d{4}-\d\d-\d\d[T ]\d\d:\d\d:\d\d(?:[.,]\d{1,9})?(?: ?(?:Z|UTC|[+-]\d\d:?\d\d))?"
_MONTH = r"(?:Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec)"
_PROCESS = r"(?:[\w.-]+ [\w./@-]+\[\d+\]: )?"  # host, program, its number
# Without a number as well: but `Total operations: ` is what a tool says.
_HOST = (
    r"(?:[\w.-]+ (?:[\w./@-]+\[\d+\]|kernel|sudo): "
    r"|(?=[A-Za-z.-]{0,60}[\d.-])[\w.-]+ [\w./@-]+: )?"
)
_STAMPS = (
    rf"\[{_ISO} +(?:INFO|DEBUG|TRACE) +[\w:.-]{{1,80}}\] ",  # of Rust
    rf"(?:[^\t\n]{{1,120}}\t){{2}}(?={_ISO} )",  # gh run view --log: job and step
    rf"\[?{_ISO}\]?(?: \d\d[OE][+ ]|[ \t]|[|:]\s?){_PROCESS}",  # GitHub, GitLab, loggers, journal
    # What loggers name: Python's, and those of Java.
    r"- [\w.]{1,60} - (?:INFO|DEBUG) - ",
    r"- (?:INFO|DEBUG) - ",
    r"\d{4}/\d\d/\d\d \d\d:\d\d:\d\d(?:\.\d{1,9})? (?:[\w./-]{1,60}\.go:\d{1,6}: )?",  # of Go
    r"\((?:[\w.]{1,40} )?pid=\d{1,8}(?:, ip=[\d.]{7,15})?\) ",  # Ray
    r"\[rank ?\d{1,5}\]:? ",  # PyTorch
    r"(?:INFO|DEBUG) +\[[A-Za-z][\w.:-]{0,60}\] [\w.$]{1,100} +[-:] ",
    r"(?:INFO|DEBUG):[\w.]{1,60}:",
    r"\[[A-Za-z][\w.:@#/ -]{0,60}\] (?:INFO|DEBUG) +[\w.$]{1,100} +- ",  # logback
    r"(?:build|simple|error)\t\d\d-\w{3}-\d{4} \d\d:\d\d:\d\d\t",  # Bamboo
    r"[IWEF]\d{4,8} \d\d:\d\d:\d\d\.\d{6} +\d{1,10} [\w./-]{1,80}:\d{1,6}\] ",  # glog, Kubernetes
    r"\d\d-\d\d \d\d:\d\d:\d\d\.\d{3} +\d{1,7} +\d{1,7} [VDIWE] [\w./ -]{1,60}: ",  # Android
    r"<[0-7]>",  # what systemd reads a priority from
    r"\[\d\d:\d\d:\d\d\] ?[A-Za-z]?:\t+ ?(?:\[[^\]\n]{1,60}\] ?)?",  # TeamCity
    r"\[\d\d:\d\d:\d\d(?:[.,]\d{1,9})?(?:Z)?\] ?",  # Jenkins
    r"\| (?:INFO|DEBUG|TRACE|SUCCESS) +\| [\w.:<>/-]{1,100} - ",  # loguru, behind its time
    r"\d\d:\d\d:\d\d[.,]\d{1,9}[ \t|]\s?",
    rf"\[ *\d{{1,10}}\.\d{{3,9}}\] {_PROCESS}",  # dmesg, ts, ping -D, journal
    # syslog, ts; a size of 2048 is no year
    rf"{_MONTH} [ \d]\d \d\d:\d\d:\d\d (?:(?:19[7-9]|20[0-3])\d )?{_HOST}",
    # iperf3, mpirun
    rf"(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun) {_MONTH} [ \d]\d \d\d:\d\d:\d\d \d{{4}}(?: (?=\S)|(?=\[))",
    # syslog of RFC 5424: a priority, its version, the time, host, program, process, message, data
    rf"(?:<\d{{1,3}}>)?1 {_ISO} [\w.:-]+ [\w./@-]+ [\w-]+ [\w-]+ (?:-|\[[^\]\n]{{0,500}}\]) ?",
    rf"<\d{{1,3}}>(?={_MONTH} )",  # of RFC 3164 before its time
    r"#\d{1,3} \d{1,5}\.\d{1,3} ",  # docker build
    r"\[(?:[\w.-]{1,80}@)?\d{1,4},\d{1,4}\]<(?:stdout|stderr)>: ?",  # mpirun --tag-output
    r"\d\d:\d\d:\d\d (?:INFO |DEBUG)\| (?:\[(?:stdout|stderr)\] ?)?",  # Avocado
    r"[a-z]\w{1,40} +L\d{4} +(?:INFO ?|DEBUG)\| (?:\[(?:stdout|stderr)\] ?)?",  # and its job.log
    r"\[(?:stdout|stderr)\] ?",
    r"(?:stdout|stderr)(?: ?[|>:]| [FP]) ",  # the latter of containers in Kubernetes
    r"\[?(?:INFO|DEBUG|NOTICE|info|debug)\]?[:|]? +(?=\S)",
)
_STAMP = late(rf"(?:{'|'.join(_STAMPS)})+(?=[^\n]*\S)")
_STAMP_ALONE = late(rf"\[?{_ISO}\]?(?: \d\d[OE])?[ \t|:]*")  # of an empty line
# mpirun puts what one process wrote behind what another has not ended: what it marks is a line.
_GLUED = late(
    rf"(?:(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun) {_MONTH} [ \d]\d \d\d:\d\d:\d\d \d{{4}})?"
    r"\[(?:[\w.-]{1,80}@)?\d{1,4},\d{1,4}\]<(?:stdout|stderr)>: ?"
)
# Each of them has a clock, a number in brackets, such a mark, or a word: without one none is tried.
_MARKED = late(r"[:\]#<](?:(?<=\d:)\d\d:|(?<=\d\]) |(?<=[#<])\d)")
_STAMP_WORDS = (
    "stdout", "stderr", "INFO", "DEBUG", "NOTICE", "info", "debug", "pid=", "[rank",
)  # fmt: skip
_NAMED = late(r"([\w./:@-]{1,60}(?: \([\w. -]{1,20}\))?) *\| ?")  # a service, or a job
_PODDED = late(r"(\[pod/[\w.-]{1,253}/[\w.-]{1,63}\]) ?")  # kubectl logs --prefix
# A host, as pdsh, clush and parallel --tag write it, or a clock without a date. sockperf begins its
# own lines by its name: hosts of clusters have a digit in theirs.
_HOST = r"(?!SUM-\d|FD\d)(?=[\w.-]{0,39}\d)[A-Za-z][\w.-]{1,40}"
_HOSTED = late(rf"(\[{_HOST}\]:?|{_HOST}(?:\]:?|:|\t)) ?")
_STERNED = late(r"([a-z][a-z\d.-]{0,253}-[a-z\d]{5} [a-z][a-z\d-]{0,62})(?: |$)")  # stern
# A file, as grep writes it before what it found in it, and maybe the number of the line.
_FILED = late(r"([\w./~+-]{1,120}\.(?:log|txt|out|err|md):)(?:\d{1,7}:)?")
_CLOCKED = late(r"(\d\d:\d\d:\d\d(?:[.,]\d{1,9})?)(?:[ \t]|$)")
# What a logger or a runner names itself. sockperf's lines begin so, and those of iperf by streams.
_CALLED = late(
    r" {0,8}((?!sockperf\b|stress-ng\b)[A-Za-z_][\w.-]{1,40}:(?= )"
    r"|\[(?!SUM\]|ID\]|FD\d)[A-Za-z][\w.:/@-]{1,40}\]:?) ?"
)
# srun -l, mpiexec -l; lines of iperf begin by the number of a stream.
_RANKED = late(
    r"( {0,3}\d{1,4}:(?: |$)"
    r"|\[\d{1,4}\] (?=\s*\S)(?!\s*(?:\d+[.,]\d+\s*-\s*\d|local |Sent |Server )))"
)
_COUNTED = late(r" {0,6}([1-9]\d{0,6})(?:\t(?!Method:)|[:|] ?)")  # cat -n, grep -n; not mbw
# less -N, bat, an editor, a page that shows a file: what has no bar behind it must count up.
_LISTED = late(r" {0,8}([1-9]\d{0,6})(?: {1,2}│(?: |$)| {1,2}|\t|$)")
# A page that writes 01, with one blank: only where a number also has nothing behind it, or a zero.
_PADDED = late(r" {0,8}(\d{1,7})(?: |\t|$)")
_FEWEST_LISTED = 5
_ADDED = late(r"(\+)(?!\+\+ |[A-Z]{1,3}\d?:)")  # lines of a file that a patch adds
_STEPPED = late(r"(\[[A-Za-z][\w ./-]{0,40}:\d{1,6}\])(?: |$)")  # Drone: a step and its line
_FAR = late(r"(\[[\w.@:-]{1,60}\] (?:out|err):)(?: |$)")  # Fabric
# What pytest shows of an assertion, points of a list, initials of who is quoted.
_MARKS = late(r" {0,12}(E(?= {3})|--?(?= |$)|[*•](?= )|[A-Z]{2,3}>(?= |$)) ?")
_PREFIXES = (
    _NAMED, _PODDED, _STERNED, _RANKED, _FILED, _HOSTED, _CALLED, _CLOCKED, _COUNTED, _LISTED,
    _PADDED, _STEPPED, _FAR, _MARKS, _ADDED,
)  # fmt: skip
# Those that one block of a page may have alone.
_OF_BLOCKS = (
    _NAMED,
    _PODDED,
    _STERNED,
    _FILED,
    _HOSTED,
    _CLOCKED,
    _COUNTED,
    _STEPPED,
    _FAR,
    _ADDED,
)
_FIGURES = late(r"[\s\d.,]+")
_QUOTED = late(r"(?:[ \t]*>)+(?:[ \t]|$)")
_TIGHT = late(r">[^\s>=]")
_BARRED = late(r"[ \t]*\|(?: |$)(?=[^|]*\|?$)")  # also in a frame
_FRAMED = late(r"[ \t]*\| \+-")  # a table of text within such a frame
_BARS = late(r"[ \t]*\|(?: |$)")
_ESCAPED = late(r"^([ \t>]{0,8})\\(?=[#*+\[>|_-])", re.M)  # for Markdown
# What somebody made bold to speak of it; rows of stars and patterns of paths are something else.
_BOLD = late(r"(?<![^\s>|=(/])\*\*(?=[^\s*])([^*\n]{1,300})(?<=\S)\*\*(?![^\s.,;:|)<])")
_ORG = late(r"[ \t]*:(?: |$)")  # what Org keeps of what a program printed
_INTERRUPTED = late(r"^[ \t]*(?:\^C)+")  # what a terminal shows of that key
_FENCE = late(r"\s*(?:```|~~~)[\w+-]*\s*$")
_CHECKED, _LEAST = 4000, 3  # lines that are looked at for prefixes; lines that share one
_MOST = 0.8  # of the lines that are not empty
_NESTED = 3  # one in the other
BAR, _LEAST_WIDTH = "│", 20  # between panes of a terminal, and of the left one
_INDENTED = 2  # columns; one is a tool's own way


def unwrapped(text: str) -> list[str]:
    """The lines of the file as they were before somebody put them into something else. What was
    one line stays one, parted by `SOFT` where it holds several."""
    if "<" in text and _IS_PAGE.search(text):
        text = _from_page(text)
    elif has(text, "&") and _ENTITY.search(text):
        text = _from_entities(text)
    if "\\" in text:
        text = _ESCAPED.sub(r"\1", text)
    text = without_inline_code(text)
    if has(text, "**"):
        text = _BOLD.sub(r"\1", text)
    # What stands in a block of a page had its stamps before; a tab is at its place by what is left
    # of it.
    lines = text.split("\n")
    if has(text, "#+"):
        lines = [_without(_ORG, line) for line in lines]
    if has(text, "\n>") or text[:1] == ">":
        lines = _unquoted_tight(lines)
    lines = _plain(_unfenced(lines if "\t" in text else _dedented(lines)))
    if has(text, "^C"):
        lines = [_INTERRUPTED.sub("", line) if "^C" in line else line for line in lines]
    if may_be_commented(text):
        lines = uncommented("\n".join(lines)).split("\n")
    return _dedented(lines)


def _unfenced(lines: list[str]) -> list[str]:
    """Without what begins all lines of a block between fences, where what is around has no such:
    the numbers of a listing, a service, a host. The last block may have lost its end."""
    fences = [number for number, line in enumerate(lines) if _FENCE.match(line)]
    if not fences:
        return lines
    lines = list(lines)
    ends = [*fences[1::2], len(lines)]
    for first, last in zip(fences[::2], ends, strict=False):
        block = lines[first + 1 : last]
        sample = [line for line in block if line and not line.isspace()]
        if listed := next((own for own in (_LISTED, _PADDED) if _is_listed(own, sample)), None):
            lines[first + 1 : last] = [_without(listed, line) for line in block]
            continue
        pattern = _shared(sample)
        if pattern is not None and pattern in _OF_BLOCKS:
            lines[first + 1 : last] = [_without(pattern, line) for line in block]
    return lines


def _unquoted_tight(lines: list[str]) -> list[str]:
    """Without the > that stands right before the text of several lines in a row: `>fio-3.0`."""
    kept = list(lines)
    begin = 0
    for end, line in enumerate([*lines, ""]):
        if line[:1] == ">":
            continue
        block = lines[begin:end]
        tight = sum(_TIGHT.match(own) is not None for own in block)
        if len(block) >= _LEAST and tight > 0 and not any(own[:3] == ">>>" for own in block):
            kept[begin:end] = [own[1:] for own in block]
        begin = end + 1
    return kept


def panes(text: str) -> tuple[str, str] | None:
    """What two panes of a terminal beside each other show, in as many lines each; None where there
    are none. A table whose rows have one bar looks alike: who asks tries both."""
    if BAR not in text:
        return None
    lines = text.split("\n")
    sample = _sample(lines)
    places = [line.find(BAR) for line in sample if line.count(BAR) == 1]
    place = max(set(places), key=places.count, default=-1)
    if place < _LEAST_WIDTH or places.count(place) < _MOST * len(sample):
        return None
    beside = [
        (line[:place], line[place + 1 :]) if line.find(BAR) == place else (line, "")
        for line in lines
    ]
    left, right = zip(*beside, strict=True)
    return "\n".join(left), "\n".join(right)


def _from_page(text: str) -> str:
    text = _HIDDEN.sub(lambda match: "\n" * match[0].count("\n"), text)
    text = _CELLS.sub(" | " if _HEADED.search(text) else "  ", text)
    text = _ROW_OF_BARS.sub(lambda row: _BREAK_IN_ROW.sub(" ", row[0]), text)
    text = _TAGS.sub("", _BREAKS.sub(SOFT, text))
    return _from_entities(text)


def _from_entities(text: str) -> str:
    return _ENTITY.sub(lambda match: _character(match[0]), text)


def _character(entity: str) -> str:
    character = html.unescape(entity)
    if character == "\u00a0":
        return " "
    if character == "\n":
        return SOFT
    # An entity may spell other control characters, too.
    return character if character.isprintable() or character == "\t" else ""


def _plain(lines: list[str]) -> list[str]:
    """Without quoting, stamps and names before them, however they are nested."""
    for _ in range(_NESTED):
        before = lines
        sample = _sample(lines)
        if any(">" in line or "|" in line or line[:1] == "│" for line in sample):
            bare = _BARS if _is_framed(sample) else None
            lines = [_without(bare, line) if bare else _unquoted(line) for line in lines]
            sample = _sample(lines)
        if any(_STAMP.match(line) for line in sample):
            lines = _unstamped(lines)
            sample = _sample(lines)
        if pattern := _shared(sample):
            lines = [_without(pattern, line) for line in lines]
        if lines == before:
            break
    return lines


def _sample(lines: list[str]) -> list[str]:
    """Lines with something in them, from all over."""
    step = max(1, len(lines) // _CHECKED)
    return [line for line in lines[::step] if line and not line.isspace()]


def _unstamped(lines: list[str]) -> list[str]:
    text = "\n".join(lines)
    words = [word for word in _STAMP_WORDS if word in text]
    unstamped = []
    for line in lines:
        if not _MARKED.search(line):
            for word in words:
                if word in line:
                    break
            else:
                unstamped.append(line)
                continue
        bare = _without(_STAMP, line)
        unstamped.append(_GLUED.sub(SOFT, bare) if "]<std" in bare else bare)
    stamped = sum(map(ne, lines, unstamped))
    if stamped < _MOST * sum(map(bool, lines)):
        return unstamped  # a few stamps are part of what a tool printed
    return ["" if _STAMP_ALONE.fullmatch(line) else line for line in unstamped]


def _without(pattern: re.Pattern[str], line: str) -> str:
    """A line without what begins it; the same further on is its own."""
    return line[match.end() :] if (match := pattern.match(line)) else line


def _is_framed(sample: list[str]) -> bool:
    """Whether a bar stands before all lines, tables and their own bars as well."""
    if not any("| +-" in line and _FRAMED.match(line) for line in sample):
        return False
    return sum(_BARS.match(line) is not None for line in sample) >= _MOST * len(sample)


def _unquoted(line: str) -> str:
    if line[:1] == "│":  # a pane of a terminal
        return line[1:].removeprefix(" ").rstrip("│ \t")
    head = line[:12]
    if ">" in head and (match := _QUOTED.match(line)):
        return line[match.end() :]
    if "|" in head and (match := _BARRED.match(line)):
        return line[match.end() :].removesuffix("|")
    return line


def _shared(sample: list[str]) -> re.Pattern[str] | None:
    """What begins nearly all lines: a name, a rank, or a number that counts up."""
    if len(sample) < _LEAST:
        return None
    for pattern in _PREFIXES:
        stamps = [stamp for stamp in map(pattern.match, sample) if stamp]
        if len(stamps) >= _MOST * len(sample):
            labels = [stamp[1] for stamp in stamps]
            if pattern in (_FILED, _HOSTED, _CALLED, _STERNED) and not (
                len(set(labels)) == 1 or (pattern in (_FILED, _HOSTED) and _in_turn(labels))
            ):
                continue  # titles of lines, or the mixed lines of several hosts
            if pattern is _NAMED and (len(set(labels)) == len(labels) or _are_rows(stamps)):
                continue  # the first column of a table without a bar before it
            if pattern is _CALLED and _are_alike(stamps):
                continue  # the title of one kind of line, of which somebody shows nothing else
            if pattern is _COUNTED and not _counts_up(labels):
                continue
            if pattern in (_LISTED, _PADDED) and not _is_listed(pattern, sample):
                continue
            if pattern is _MARKS and len(set(labels)) > 1:
                continue
            return pattern
    return None


def _are_rows(stamps: list[re.Match[str]]) -> bool:
    """Whether all lines have as many bars, three or more: a table, and no names of services."""
    bars = {stamp.string.count("|") for stamp in stamps}
    return len(bars) == 1 and min(bars) >= _LEAST


def _is_listed(pattern: re.Pattern[str], sample: list[str]) -> bool:
    """Whether each line has a number that counts up, and they are not the rows of one table."""
    stamps = [stamp for stamp in map(pattern.match, sample) if stamp]
    if not len(stamps) == len(sample) >= _FEWEST_LISTED or _are_alike(stamps):
        return False
    has_mark = any(own[1][0] == "0" or own.end() == len(own.string) for own in stamps)
    return (has_mark or pattern is _LISTED) and _counts_up([stamp[1] for stamp in stamps])


def _are_alike(stamps: list[re.Match[str]]) -> bool:
    """Whether what follows differs in figures only."""
    return len({_FIGURES.sub("", label.string[label.end() :]) for label in stamps}) < 2


def _in_turn(labels: list[str]) -> bool:
    """Whether one name follows another, each before several lines and never again."""
    turns = [sum(1 for _ in own) for _, own in groupby(labels)]
    return len(turns) == len(set(labels)) and min(turns) >= _LEAST


def _counts_up(labels: list[str]) -> bool:
    """Whether the numbers before the lines are those of lines, where all of them were looked at."""
    return all(int(after) - int(before) == 1 for before, after in pairwise(labels[:_CHECKED]))


def _dedented(lines: list[str]) -> list[str]:
    """Without the indentation that a block of lines shares, after an empty line or a fence."""
    if not any(line[:1] in (" ", "\t") for line in lines):
        return lines
    parted = [
        number
        for number, line in enumerate(lines)
        if not line or line.isspace() or (("```" in line or "~~~" in line) and _FENCE.match(line))
    ]
    dedented, begin = list[str](), 0
    for end in [*parted, len(lines)]:
        if begin < end:
            dedented += _to_the_left(lines[begin:end])
        dedented += lines[end : end + 1]
        begin = end + 1
    return dedented


def _to_the_left(block: list[str]) -> list[str]:
    """The lines of one block without the columns that all of them leave empty."""
    block = [line.expandtabs(8) if "\t" in line else line for line in block]
    if not all(line.startswith(" ") for line in block):
        return block
    common = min(len(line) - len(line.lstrip(" ")) for line in block)
    return [line[common:] for line in block] if common >= _INDENTED else block
