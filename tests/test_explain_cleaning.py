"""Dirty text: what importers see of it, line by line, with the numbers of the file."""

from __future__ import annotations

import base64
import json
import random

import pytest

from benchbook.explain.api import explained
from benchbook.explain.clean.pipeline import log_of
from benchbook.explain.model import Log
from benchbook.explain.rules import Machine

TABLE = ["Function  Rate", "Copy:  12345.6 MB/s", "  Scale:  11111.1 MB/s"]


def shown(content: bytes) -> list[str]:
    return [line.text for line in log_of(content).lines if line.text]


def joined(lines: list[str]) -> bytes:
    return "\n".join(lines).encode()


@pytest.mark.parametrize(
    "encoding", ["utf-8", "utf-8-sig", "utf-16", "utf-16-le", "utf-16-be", "utf-32", "cp1252"]
)
def test_any_encoding(encoding: str) -> None:
    content = "min/avg 1.5 µs ± 0.2\nCopy: 12.5 MB/s and more\n".encode(encoding)
    assert shown(content) == ["min/avg 1.5 µs ± 0.2", "Copy: 12.5 MB/s and more"]


@pytest.mark.parametrize(
    ("content", "lines"),
    [
        (b"a\r\nb\r\r\nc", ["a", "b", "c"]),
        (b"a\rb\rc", ["a", "b", "c"]),
        (b"10 %\r20 %\rdone\n\r", ["done"]),
        (b"10 %\rdone\r\n", ["done"]),
        (b"12\b\b34\n", ["34"]),
        (b"\x1b[1;32mCopy:\x1b[0m 1\x1b[K\n", ["Copy: 1"]),
        (b"\x1b]0;a title\x07Copy: 1\n\x1b]8;;x\x1b\\Add\x1b]8;;\x1b\\\n", ["Copy: 1", "Add"]),
        (b"[32mCopy:[0m 1\n", ["Copy: 1"]),
        (b"Co\x00py:\x00 1\n", ["Copy: 1"]),
        ("a\u200bb\ufeff \u202ec\n".encode(), ["ab c"]),
        (b"caf\xe9 12 \xb5s\n", ["café 12 µs"]),
    ],
)
def test_what_a_terminal_shows(content: bytes, lines: list[str]) -> None:
    assert shown(content) == lines


def test_lines_that_docker_keeps_are_those_that_were_printed() -> None:
    kept = [
        r'{"log":"Copy: 1.5 \"MB/s\"\n","stream":"stdout","time":"2024-01-02T03:04:05.6Z"}',
        r'{"log":"\u001b[1mScale:\u001b[0m 2\r\n","stream":"stderr","attrs":null,"time":"x"}',
        '{"log": 3}',
    ]
    assert shown(joined(kept)) == ['Copy: 1.5 "MB/s"', "Scale: 2", '{"log": 3}']


def test_outputs_in_a_notebook_are_the_lines_that_were_printed() -> None:
    content = r"""
{"cells": [{"outputs": [{"text": [
  "\u001b[32mCopy:\u001b[0m 1.5 \"MB/s\"\n",
  "50 %\rScale: 2\n",
  "Add: 3"
]
}], "source": [
  "!./stream"
]}]}
"""
    log = log_of(content.strip("\n").encode())
    said = {line.number: line.text for line in log.lines}
    assert [said[number] for number in (2, 3, 4)] == ['Copy: 1.5 "MB/s"', "Scale: 2", "Add: 3"]
    assert (said[6], said[7]) == ('}], "source": [', "!./stream")


@pytest.mark.parametrize(
    "before",
    [
        "2024-05-01T10:00:00.1234567Z ",
        "[2024-05-01 10:00:00,123] ",
        "[10:00:00] ",
        "2024-05-01T10:00:00.000000Z 00O ",
        "[    1.234567] ",
        "May  1 10:00:00 host stream[123]: ",
        "#12 3.456 ",
        "> ",
        "> > ",
        "| ",
        "bench_1  | ",
        "[1,0]<stdout>:",
        "0: ",
        "INFO: ",
        "node07: ",
        "[gpu-a100-03] 12:41:00  ",
        "[c1-23]: ",
        "2024-05-01T10:00:00Z bench | ",
        "2024-05-01T10:00:00.123456789+02:00 stdout F ",
        "bench (gcc-13)\tRun it\t2024-05-01T10:00:00.1234567Z ",
        "2024-05-01T10:00:00+0200 node7 bench[812]: ",
        "[ 1234.000567] node7 bench[812]: ",
        "2024-05-01 10:00:00,123 INFO  [main] c.x.Runner - ",
        "2024-05-01 10:00:00,123 - bench.run - INFO - ",
        "INFO:bench.run:",
        "12:00:01.123 [main] INFO  c.x.Bench - ",
        "build\t01-May-2024 10:00:00\t",
        "I0501 10:00:00.123456       1 main.go:42] ",
        "05-01 10:00:00.123  1234  1250 I bench   : ",
        "<6>",
        "node-03\t",
        "out/run-1.log:",
        "bench-7d9f4b5c6d-x2x9z main ",
        "// ",
        "    //! ",
        "# ",
    ],
)
def test_what_stands_before_each_line_goes(before: str) -> None:
    text = joined([before + line for line in TABLE])
    assert [line.strip() for line in shown(text)] == [line.strip() for line in TABLE]


def test_numbers_of_lines_go() -> None:
    for form in ("{:6}\t{}", "{}:{}"):
        numbered = [form.format(number, line) for number, line in enumerate(TABLE, 7)]
        assert [line.strip() for line in shown(joined(numbered))] == [
            line.strip() for line in TABLE
        ]


@pytest.mark.parametrize(
    "line",
    [
        "[  5]   0.00-1.00   sec  1.10 GBytes  9.41 Gbits/sec",
        "[ 10s ] thds: 1 tps: 5.00",
        "| Event | Counter | Value |",
        "1      2.34",
        "# OSU MPI Latency Test",
        "[0] GPU: device",
        "0\tMethod: MEMCPY\tElapsed: 0.01",
        "2024-05-01T10:00:00+02:00",
        "12,345,678      cycles       #    3.2 GHz",
    ],
)
def test_what_a_tool_prints_itself_stays(line: str) -> None:
    rows = [line, line.replace("1", "2"), "End of it"]
    assert shown(joined(rows)) == rows


def test_a_scaling_table_is_no_numbered_listing() -> None:
    rows = [f"{threads} {1000 * threads}" for threads in (1, 2, 3, 4)]
    assert shown(joined(rows)) == rows


def test_a_long_scaling_table_is_no_numbered_listing() -> None:
    rows = [f"{threads} {1000 * threads}" for threads in range(1, 21)]
    assert shown(joined(rows)) == rows


@pytest.mark.parametrize("form", ["{:4d}  {}", "{} {}", "{:7d} {}"])
def test_numbers_that_an_editor_shows_go(form: str) -> None:
    text = [*TABLE, "", *TABLE, "", *TABLE, "", *TABLE]
    numbered = [form.format(number, line) for number, line in enumerate(text, 1)]
    assert [line.strip() for line in shown(joined(numbered)) if line.strip()] == [
        line.strip() for line in text if line
    ]


def test_clocks_before_empty_lines_go() -> None:
    text = [TABLE[0], "", "", TABLE[1], "", TABLE[2]]
    stamped = [f"10:00:0{at} {line}" for at, line in enumerate(text)]
    assert [line.strip() for line in shown(joined(stamped))] == [line.strip() for line in TABLE]


def test_what_a_file_that_is_new_adds() -> None:
    assert shown(joined([f"+{line}" for line in TABLE])) == TABLE
    borders = ["+---+---+", "| a | 1 |", "+---+---+", "| b | 2 |"]
    assert shown(joined(borders)) == borders


def test_stamps_within_a_block_go() -> None:
    stamped = [f"    [2025-03-01T10:00:00.123Z] {line}" for line in TABLE]
    assert [line.strip() for line in shown(joined(stamped))] == [line.strip() for line in TABLE]


def test_a_rank_of_a_host_is_no_host() -> None:
    rows = [f"[n17:0] {line}" for line in TABLE]
    assert shown(joined(rows)) == TABLE


def test_a_page_is_its_text() -> None:
    page = (
        b"<html><head><title>a log</title><style>p {}\n</style></head><body>\n<p>We saw:</p>\n"
        b"<pre class='x'>Copy: 1 &lt;not supported&gt;<br>Scale: <b>2</b>\n&nbsp;Add: 3</pre>\n"
        b"<script>\nlet a = '<pre>';\n</script>\n"
    )
    log = log_of(page)
    found = {line.text.strip(): line.number for line in log.lines if line.text.strip()}
    assert found == {"We saw:": 3, "Copy: 1 <not supported>": 4, "Scale: 2": 4, "Add: 3": 5}


def test_a_comment_of_c_is_its_text_and_lists_stay() -> None:
    text = "* one\n/*\n * Copy: 1\n *   Scale: 2 */\nint x; /* y */\n /* Add: 3\n* two\n"
    assert shown(text.encode()) == [
        "* one", "Copy: 1", "  Scale: 2 */", "int x; /* y */", " /* Add: 3", "* two",
    ]  # fmt: skip


def test_a_patch_is_what_it_leaves() -> None:
    patch = "--- /dev/null\n+++ b/x\n@@ -1,2 +1,3 @@\n Copy: 1\n-Add: 2\n+Add: 3\n+-> 4\n+no part\n"
    found = ["--- /dev/null", "+++ b/x", "@@ -1,2 +1,3 @@", "Copy: 1", "Add: 3", "-> 4", "+no part"]
    assert shown(patch.encode()) == found


def test_heads_with_a_number_sign_stay() -> None:
    rows = ["# OSU MPI Latency Test", "# Size  Latency (us)", "# more", "8   1.5"]
    assert shown(joined(rows)) == rows


def test_angle_brackets_of_tools_stay() -> None:
    assert shown(b"<not counted> cycles\n<sample> <1%>\n") == [
        "<not counted> cycles",
        "<sample> <1%>",
    ]


def test_an_indented_block_is_dedented() -> None:
    text = joined(
        ["We ran", "", *("    " + line for line in TABLE), "", "and", "```", *TABLE, "```"]
    )
    assert shown(text) == ["We ran", *TABLE, "and", "```", *TABLE, "```"]


@pytest.mark.parametrize(
    ("line", "words", "variables"),
    [
        ("user@host:~/src$ ./stream -n 5", ("./stream", "-n", "5"), {}),
        ("[root@node1 ~]# mbw 32", ("mbw", "32"), {}),
        ("(venv) me@box dir % ping -c 3 host", ("ping", "-c", "3", "host"), {}),
        ("$ OMP_NUM_THREADS=4 sudo ./a.out", ("./a.out",), {"OMP_NUM_THREADS": "4"}),
        ("# iperf3 -s", ("iperf3", "-s"), {}),
        ("PS C:\\Users\\me> iperf3.exe -c host", ("iperf3.exe", "-c", "host"), {}),
        ("C:\\>ping host", ("ping", "host"), {}),
        ("+ make run", ("make", "run"), {}),
        ("~/src ❯ hyperfine 'sleep 1'", ("hyperfine", "sleep 1"), {}),
        ("$ echo 'torn", ("echo", "'torn"), {}),
    ],
)
def test_a_command_line(line: str, words: tuple[str, ...], variables: dict[str, str]) -> None:
    (found,) = log_of(b"before\n" + line.encode() + b"\n").commands
    assert (found.number, found.words, dict(found.environment)) == (2, words, variables)


def test_a_command_goes_on_in_the_next_line() -> None:
    (found,) = log_of(b"$ mpirun -n 2 \\\n    ./osu_latency -m 8\nout\n").commands
    assert found.words == ("mpirun", "-n", "2", "./osu_latency", "-m", "8")


@pytest.mark.parametrize(
    "line",
    [
        "5 packets transmitted, 5 received, 0% packet loss",
        "# OSU MPI Latency Test v5.8",
        "Copy:           12345.6     0.012",
        "  99.9% of them",
        "#---------------------------------",
    ],
)
def test_no_command_line(line: str) -> None:
    assert log_of(line.encode()).commands == ()


def values(text: str) -> list[object]:
    return [document.value for document in log_of(text.encode()).documents]


def test_whole_documents_between_other_lines() -> None:
    text = 'begin\n{"a": [1, 2]}\nmore {"b": 2}\n[{"c": 3},\n {"c": 4}]\n[  5]\n{ x }\n'
    log = log_of(text.encode())
    found = [(document.number, document.value, document.whole) for document in log.documents]
    assert found == [
        (2, {"a": [1, 2]}, True),
        (3, {"b": 2}, True),
        (4, [{"c": 3}, {"c": 4}], True),
    ]


def test_a_document_inside_stamps() -> None:
    lines = ["{", '  "a": {', '    "b": 1', "  }", "}"]
    (found,) = log_of(joined(["2024-05-01T10:00:00Z " + line for line in lines])).documents
    assert (found.number, found.value) == (1, {"a": {"b": 1}})


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ('{"a": {"b": 1, "c": [1, 2', {"a": {"b": 1, "c": [1]}}),
        ('{"a": 12', None),
        ('{"a": 12\n', {"a": 12}),
        ('{"a": "x", "b": "to', {"a": "x"}),
        ('{"a": tr', None),
        ('{"a": 1, "b": 2}}', {"a": 1, "b": 2}),
        ('"b": 1,\n"c": 2', {"b": 1}),
        ('"b": 1\n}, {"b": 2}\n], "end": {"c": 3}}', {"": [{"b": 1}, {"b": 2}], "end": {"c": 3}}),
        ('"b": {"x": 1}}, "d": 4}', {"": {"b": {"x": 1}}, "d": 4}),
    ],
)
def test_documents_without_head_or_tail(text: str, value: object) -> None:
    assert values(text) == ([value] if value else [])


def test_every_cut_of_a_document_says_nothing_else() -> None:
    text = (
        '{"a": [{"rate": 123.5, "who": "x"}, {"rate": 7}],\n "end": {"sum": 130.5, "ok": true}}\n'
    )
    for at in range(len(text)):
        for piece in (text[:at], text[at:]):
            numbers = {number for document in values(piece) for number in _numbers(document)}
            assert numbers <= {123.5, 7, 130.5, True}, piece


def _numbers(value: object) -> list[float]:
    if isinstance(value, dict | list):
        inside = value.values() if isinstance(value, dict) else value
        return [number for document in inside for number in _numbers(document)]
    return [value] if isinstance(value, int | float) else []


@pytest.mark.parametrize(
    ("text", "comma"),
    [
        ("rtt 0,123 ms\n1,5 MB/s", True),
        ("rtt 0.123 ms\n1.5 MB/s", False),
        ("1,234,567 cycles\n1,234 faults", False),
        ("1.234.567 cycles\n0,5 seconds", True),
        ("CPUs 0,1 ran\n1.25 s\n2.5 s", False),
        ("nothing", False),
    ],
)
def test_decimal_commas(text: str, comma: bool) -> None:
    assert log_of(text.encode()).decimal_comma is comma


@pytest.mark.parametrize(
    ("text", "comma", "value"),
    [
        ("1,234.5", False, 1234.5),
        ("1,234", False, 1234.0),
        ("12,5", False, 12.5),
        ("1,2,3", False, None),
        ("1.234,5", True, 1234.5),
        ("1.234.567", True, 1234567.0),
        ("12,5", True, 12.5),
        ("1\u00a0234,5", True, 1234.5),
        ("1'234.5", False, 1234.5),
        ("1_0", False, None),
        ("-1.5e3", False, -1500.0),
        ("n/a", False, None),
    ],
)
def test_numbers(text: str, comma: bool, value: float | None) -> None:
    assert Log((), decimal_comma=comma).number(text) == value


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"\xff\xfe",
        b"\xfe\xff\x00",
        b"{" * 5000,
        b'{"a": "\\u12]]}} ' * 5000,
        b'[{"a":' * 5000,
        b'{"' * 5000,
        b'{"a": ' + b"9" * 5000 + b"}",
        b'"a": ' * 3000,
        b"\x1b]" * 5000,
        b"<pre" * 5000,
        b"&#" * 5000,
        b">" * 100_000,
        b"\r" * 100_000,
        b"\b" * 100_000,
        b"$ '" * 5000,
        random.Random(1).randbytes(200_000),
    ],
)
def test_hostile_content_is_a_log(content: bytes) -> None:
    for hostile in (content, content + b"\n" + content):
        log = log_of(hostile)
        assert all(text.isprintable() or "\t" in text for text in log.text.split("\n"))


def test_numbers_of_hundreds_of_digits_are_none() -> None:
    assert shown(b"0.1234567890123456789 MB/s\nsize " + b"12" * 30 + b" bytes") == [
        "0.1234567890123456789 MB/s",
        "size … bytes",
    ]


def test_objects_of_a_document_know_their_lines() -> None:
    text = b'job 7\n{"a": {"text": "{ no object"},\n "b": [\n  {"c": 1},\n\n  {"c": 2}]}\n'
    document = log_of(text).documents[0]
    value, places = document.value, document.places
    assert places[id(value)] == places[id(value["a"])] == 2
    assert [places[id(item)] for item in value["b"]] == [4, 6]
    cut = log_of(text[: text.index(b"2}]}")]).documents[0]
    assert cut.places[id(cut.value["b"][0])] == 4
    headless = log_of(b'  "a": 1,\n  "b": {"c": 2}\n}\n').documents[0]
    assert headless.value and headless.places == {}


def test_a_recording_is_what_the_terminal_showed() -> None:
    events = [
        [0.1, "o", "10 %\r20"],
        [0.2, "i", "q"],
        [0.3, "o", " %\rCopy: 1\r\nAdd"],
        [0.4, "o", ": 2"],
    ]
    content = "\n".join(map(json.dumps, [{"version": 2, "width": 80}, *events])).encode()
    assert [(line.number, line.text) for line in log_of(content).lines if line.text] == [
        (4, "Copy: 1"), (5, "Add: 2"),
    ]  # fmt: skip


def test_an_event_that_is_the_whole_recording() -> None:
    content = (
        json.dumps({"version": 2, "width": 80}) + "\n" + json.dumps([1, "o", "\r\n".join(TABLE)])
    )
    assert shown(content.encode()) == TABLE


def test_json_of_benchmarks_stays_what_it_is() -> None:
    record = {"results": [{"command": "a\nb\nc", "argv": ["x", "y"], "mean": 1.0}]}
    (document,) = log_of(json.dumps(record, indent=1).encode()).documents
    assert document.value == record


def test_a_mail_is_read_as_it_was_written() -> None:
    head = b"Content-Transfer-Encoding: quoted-printable\n\n"
    assert shown(head + b"caf=C3=A9 a=3Db =\nand more=20\nend\n")[1:] == [
        "caf\u00e9 a=b and more",
        "end",
    ]
    plain = ["64 bytes: ttl=64 time=12.3 ms", "end"]
    assert shown(head + joined(plain))[1:] == plain


def test_lines_of_other_containers() -> None:
    records = [{"MESSAGE": line, "_PID": "7"} for line in TABLE]
    assert shown("\n".join(map(json.dumps, records)).encode()) == TABLE
    records = [{"labels": {"pod": "a"}, "line": line, "timestamp": "x"} for line in TABLE]
    assert shown("\n".join(map(json.dumps, records)).encode()) == TABLE
    entries = [{"insertId": "a", "textPayload": line} for line in TABLE]
    found = {
        line.text: line.number for line in log_of(json.dumps(entries, indent=2).encode()).lines
    }
    assert [found.get(line) for line in TABLE] == [4, 8, 12]
    one_message = "May  1 10:00:00 host stream[123]: " + "#012".join(TABLE)
    assert shown(one_message.encode()) == TABLE
    body = json.dumps(
        {"title": "x", "body": "We saw\r\n\r\n```\r\n" + "\r\n".join(TABLE) + "\r\n```"}
    )
    assert [line for line in shown(body.encode()) if line in TABLE] == TABLE


def test_strings_of_programs_and_parts_of_mails_are_their_lines() -> None:
    said = "\n".join(TABLE) + "\n"
    for kept in (
        f"CompletedProcess(args=['x'], returncode=0, stdout={said!r})",
        repr(said.encode()),
        f'time="10:00" level=info msg={json.dumps(said)}',
        f'<failure message="{said}"/>'.replace("\n", "&#10;"),
    ):
        assert [line.strip() for line in shown(kept.encode()) if "MB/s" in line] == [
            line.strip() for line in TABLE[1:]
        ]
    record = {"command": "awk -v x='a\nb\nc'", "mean": 1.0}
    (document,) = log_of(json.dumps({"results": [record]}).encode()).documents
    assert document.value == {"results": [record]}
    head = b"Subject: x\nContent-Transfer-Encoding: base64\n\n"
    assert shown(head + base64.encodebytes(said.encode()))[2:] == TABLE
    picture = base64.encodebytes(bytes(range(256)))
    assert shown(head + picture)[2:] == picture.decode().split("\n")[:-1]


def test_cells_of_a_page_stay_apart() -> None:
    assert shown(b"<p>a &hellip; b &plusmn; &sigma;</p>") == ["a \u2026 b \u00b1 \u03c3"]
    row = b"<table><tr><td>8</td><td align='right'>1.42</td></tr></table>\n"
    assert shown(row) == ["8  1.42"]
    assert shown(b"<table><tr><th>Size</th> <th>Latency</th></tr>" + row)[:2] == [
        "Size | Latency", "8 | 1.42",
    ]  # fmt: skip


def test_a_pane_of_a_terminal_is_its_text() -> None:
    assert shown("".join(f"│ {line:<40} │\n" for line in TABLE).encode()) == TABLE


def as_json(lines: list[str], indent: str = "      ") -> list[str]:
    return [f"{indent}{json.dumps(line)}," for line in lines[:-1]] + [
        indent + json.dumps(lines[-1])
    ]


@pytest.mark.parametrize(
    ("head", "lines", "tail"),
    [
        (["ok: [node1] => {", '    "out.stdout_lines": ['], as_json(TABLE), ["    ]", "}"]),
        (['   "text": ['], as_json([f"\x1b[1m{line}\x1b[0m\n" for line in TABLE]), ["   ]"]),
        ([], [json.dumps({"log": f"{line}\n", "stream": "stdout"}) for line in TABLE], []),
    ],
)
def test_lines_that_json_has_as_strings(head: list[str], lines: list[str], tail: list[str]) -> None:
    log = log_of(joined([*head, *lines, *tail]))
    found = {line.text.strip(): line.number - len(head) for line in log.lines}
    assert [found.get(line.strip()) for line in TABLE] == [1, 2, 3]


def test_a_string_of_json_that_has_lines_is_these_lines_once() -> None:
    whole = json.dumps({"rc": 0, "stdout": "\n".join(TABLE)})
    lines = ['    "stdout_lines": [', *as_json(TABLE), "    ]"]
    log = log_of(joined(["changed: [n1] => " + whole, *lines]))
    assert [line.number for line in log.lines if line.text in TABLE] == [3, 4, 5]
    assert log.documents[0].value == json.loads(whole)


def test_names_in_a_list_and_strings_of_one_line_stay() -> None:
    text = joined(['{"args": [', '  "stream",', '  "-n 3"', '], "stdout": "a\\nb", "msg": "c"}'])
    assert shown(text) == text.decode().split("\n")


def test_what_looks_like_a_stamp_further_on_in_a_line_stays() -> None:
    text = "[12:00:00] ./bench\nBM_copy_DEBUG    12.3 ns    12.3 ns    56\nat [12:00:01] it ended"
    found = [line.text for line in log_of(text.encode()).lines]
    assert found == ["./bench", *text.split("\n")[1:]]


def test_endless_numbers_go_whatever_their_digits() -> None:
    for digit in ("1", "\u0661"):
        assert log_of(f"L3 cache: {digit * 500} MiB".encode()).text == "L3 cache: … MiB"
    assert log_of("\u0661 of 2".encode()).text == "\u0661 of 2"


PANES = """$ iperf3 -c 10.0.0.2 -t 2                                    │$ iperf3 -c 10.0.0.3 -t 2
Connecting to host 10.0.0.2, port 5201                       │Connecting to host 10.0.0.3, port 5201
[ ID] Interval           Transfer     Bitrate                │[ ID] Interval           Transfer     Bitrate
[  5]   0.00-2.00   sec  224 MBytes   940 Mbits/sec  sender  │[  5]   0.00-2.00   sec  112 MBytes   470 Mbits/sec  sender
[  5]   0.00-2.01   sec  223 MBytes   931 Mbits/sec  receiver│[  5]   0.00-2.01   sec  111 MBytes   463 Mbits/sec  receiver
iperf Done.                                                  │iperf Done.
"""  # noqa: E501


def test_two_panes_are_two_logs() -> None:
    found = explained("x", PANES.encode(), Machine())
    rates = [
        (result["line"], result["value"])
        for result in found["results"]
        if result["name"] == "throughput"
    ]
    assert rates == [(4, 940.0), (5, 931.0), (4, 470.0), (5, 463.0)]
    assert found["findings"] == []


def test_a_table_with_one_bar_is_no_two_panes() -> None:
    text = (
        "Benchmark                      │      Time             CPU   Iterations\n"
        "-----------------------------------------------------------------------\n"
        "BM_First_with_a_long_name/1024 │       101 ns          100 ns      6969\n"
        "BM_Other_with_a_long_name/2048 │       201 ns          200 ns      3484\n"
    )
    assert len(explained("x", text.encode(), Machine())["results"]) == 4
