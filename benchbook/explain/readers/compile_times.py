"""-ftime-report of Clang and GCC, and ClangBuildAnalyzer: what each part of a compilation took."""

from __future__ import annotations

from dataclasses import dataclass

from benchbook.explain.lazy_regex import late
from benchbook.explain.readers.common.line_reader import LineReader, Reading, Run
from benchbook.explain.results import GIVEN

TOOL = "compile-times"
_NUMBER = r"\d{1,9}(?:\.\d{1,9})?"
# Clang: user, system, both and wall time with their shares; some of them may be missing.
_TOTAL = late(
    rf"^Total Execution Time: (?P<cpu>{_NUMBER}) seconds \((?P<wall>{_NUMBER}) wall clock\)$"
)
_CLANG_HEAD = "---Wall Time---"
_CLANG = late(
    rf"^(?:{_NUMBER} \( *{_NUMBER}%\)\s+){{0,3}}(?P<wall>{_NUMBER}) \( *(?P<share>{_NUMBER})%\)\s+"
    r"(?P<name>(?!\d+\.\d+ \()\S.{0,200})$"
)
# GCC: the wall time is the last of its times; names begin with a bar where they overlap others.
_GCC_HEADS = ("Execution times (seconds)", "Time variable")
_GCC_OLD = late(
    rf"^(?P<name>\S.{{0,60}}?)\s*:(?:\s*{_NUMBER} \( *\d+%\) (?:usr|sys))*"
    rf"\s*(?P<wall>{_NUMBER}) \( *(?P<share>\d+)%\) wall\b.*$"
)
_GCC_NEW = late(
    rf"^(?P<name>\S.{{0,60}}?)\s*:(?:\s*{_NUMBER} \( *\d+%\)){{0,2}}"
    rf"\s*(?P<wall>{_NUMBER}) \( *(?P<share>\d+)%\)\s+\d+(?:\.\d+)?[kMG]? +\( *\d+%\)$"
)
# ClangBuildAnalyzer.
_BUILD_HEAD = late(r"^Compilation \(\d{1,9} times\):$")
_BUILD = late(rf"^(?P<name>Parsing|Codegen & opts) \((?:front|back)end\): +(?P<s>{_NUMBER}) s$")


@dataclass
class _Run(Run):
    """One group of timers; `form` is the table that is being read."""

    form: str = ""


def _line(reading: Reading[_Run], text: str) -> None:
    run = reading.run
    if text.startswith("Total Execution Time:") and (found := _TOTAL.match(text)):
        run = reading.begin() if run.results else run
        reading.add("CPU time in all", found["cpu"], "s", GIVEN)
        reading.add("time in all", found["wall"], "s", GIVEN)
    elif _CLANG_HEAD in text and run.results:
        run.form = "clang"
    elif text.startswith(_GCC_HEADS):
        (reading.begin() if run.results else run).form = "gcc"
    elif _BUILD_HEAD.match(text):
        (reading.begin() if run.results else run).form = "build"
    elif run.form == "build" and (found := _BUILD.match(text)):
        reading.add(f"{found['name']} time", found["s"], "s", GIVEN, {"benchmark": found["name"]})
    elif run.form in ("clang", "gcc"):
        found = (
            _CLANG.match(text)
            if run.form == "clang"
            else _GCC_OLD.match(text) or _GCC_NEW.match(text)
        )
        if found:
            of = {"benchmark": found["name"]}
            reading.add(f"{found['name']} time", found["wall"], "s", GIVEN, of)
            reading.add(f"{found['name']} share", found["share"], "%", GIVEN, of)


read = LineReader(TOOL, _Run, _line)
