"""`benchbook ab`: two commands compared. What is fast is never asserted: programs print figures."""

from __future__ import annotations

import json
import math
import os
import random
import re
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest
from conftest import clean_environment

from benchbook.ab import counted, rounds, runs, symptoms
from benchbook.ab.answer import ERROR_OF_LOOK, LEAST_ROUNDS, Answer, Compared, Interval, compared
from benchbook.ab.condition import FAILED, Condition
from benchbook.ab.looks import looks_in
from benchbook.ab.programs import Case, Metric, Program, of_commands
from benchbook.ab.rounds import Limits, measure
from benchbook.ab.runs import Place, run_in_turns, run_whole
from benchbook.commands.main import main
from benchbook.core.errors import BenchbookError
from benchbook.report import ab_sentences

PLACE = Place(sorted(os.sched_getaffinity(0)), 60.0)
# Prints a figure near the number given, another in each run.
FIGURE = "import os, sys; print('took', float(sys.argv[1]) * (1 + os.urandom(1)[0] / 25500), 's')"
TOOK = r"took (\S+) s"
COMPUTES = "n = 0\nfor i in range({}):\n    n += i"


def printing(figure: float) -> list[str]:
    return [sys.executable, "-S", "-c", FIGURE, str(figure)]


def computing(amount: int) -> Program:
    return Program((sys.executable, "-S", "-c", COMPUTES.format(amount)), Path())


def ab(*words: str, folder: Path) -> subprocess.CompletedProcess[str]:
    """The command in a folder."""
    return subprocess.run(
        [sys.executable, "-m", "benchbook", "ab", *words],
        cwd=folder,
        env=environment(folder),
        capture_output=True,
        text=True,
        check=False,
    )


def environment(folder: Path) -> dict[str, str]:
    """With a lock of its own: it waits for no measurement of another test."""
    lock = folder.with_name(f"{folder.name}-lock")
    lock.mkdir(exist_ok=True)
    return clean_environment(
        PYTHONPATH=str(Path(__file__).parents[1]), BENCHBOOK_LOCK_DIR=str(lock)
    )


def logs(b: float, spread: float = 0.01, amount: int = 40, again: float = 1.0) -> list:
    dice = np.random.default_rng(3)
    noise = dice.normal(0, spread, (amount, 3))
    return [tuple(row) for row in noise + np.log([1, again, b])]


@pytest.mark.parametrize(
    ("b", "spread", "answer"),
    [
        (1.05, 0.01, Answer.SLOWER),
        (0.95, 0.01, Answer.FASTER),
        (1.0, 0.01, Answer.EQUAL),
        (1.002, 0.001, Answer.EQUAL),  # a difference is shown, below what is called one
        (1.0, 0.1, Answer.CANNOT_TELL),
    ],
)
def test_answer_of_known_costs(b: float, spread: float, answer: Answer) -> None:
    outcome = compared(logs(b, spread), 10, 0.01)
    assert outcome.answer == answer
    assert outcome.factor.low < b < outcome.factor.high
    assert outcome.null.holds_one


def test_interval_is_wider_where_equal_programs_differ() -> None:
    sound, unsound = compared(logs(1.05), 10, 0.01), compared(logs(1.05, again=1.2), 10, 0.01)
    assert not unsound.null.holds_one
    assert unsound.factor.low < sound.factor.low / 1.2
    assert unsound.answer == Answer.CANNOT_TELL


def test_too_few_rounds_are_no_answer() -> None:
    assert compared(logs(2.0, amount=5), 1, 0.01).answer == Answer.CANNOT_TELL
    for looks, least in LEAST_ROUNDS.items():
        assert math.isfinite(compared(logs(2.0, amount=least), looks, 0.01).factor.high)
        assert math.isinf(compared(logs(2.0, amount=least - 1), looks, 0.01).factor.high)


@pytest.mark.parametrize("looks", ERROR_OF_LOOK)
def test_error_of_all_looks_together(looks: int) -> None:
    """Equal programs, looked at again and again: a difference is called in about 1 %."""
    dice = np.random.default_rng(looks)
    plays, each = 400, max(11, LEAST_ROUNDS[looks])
    wrong = 0
    for _ in range(plays):
        rows = dice.normal(0, 0.05, (looks * each, 3))
        for look in range(1, looks + 1):
            outcome = compared([tuple(row) for row in rows[: look * each]], looks, 1e-9)
            if outcome.answer != Answer.CANNOT_TELL:
                wrong += 1
                break
    assert wrong <= 11  # 4 are expected; more than 11 by chance once in 1,000


def test_looks_leave_room_for_the_first_to_decide() -> None:
    for amount in (0.5, 7, 30, 200):
        looks = looks_in(amount)
        assert looks == 1 or amount >= looks * LEAST_ROUNDS[looks]
    assert looks_in(200) == 10


def test_figures_are_compared(tmp_path: Path) -> None:
    words = [*printing(3.0), "--", *printing(3.6)]
    done = ab(f"--metric={TOOK}", "--json", "--budget=4", "--", *words, folder=tmp_path)
    assert done.returncode == 0, done.stderr
    content = json.loads(done.stdout)
    assert content["answer"] == "slower"
    assert content["factor"]["low"] < 1.2 < content["factor"]["high"]
    assert content["a_over_itself"]["low"] < 1 < content["a_over_itself"]["high"]
    assert not content["in_turns"]
    assert all(3 <= run["cost"] < 3.04 for row in content["rounds"] for run in row["a"])


def test_of_a_figure_more_can_be_better(tmp_path: Path) -> None:
    words = [*printing(3.0), "--", *printing(3.6)]
    done = ab(
        *(f"--metric={TOOK}", "--higher-is-better", "--budget=4", "--", *words), folder=tmp_path
    )
    assert re.search(
        r"B is better: it has 1\.\d+ \(1\.\d+ to 1\.\d+\) times A's figure", done.stdout
    )
    assert done.returncode == 0


def test_a_limit_ends_with_its_own_status(tmp_path: Path) -> None:
    def status(condition: str) -> int:
        words = (f"--metric={TOOK}", "--budget=4", f"--fail-if={condition}", "--")
        return ab(*words, *printing(3.0), "--", *printing(3.6), folder=tmp_path).returncode

    assert status("slower than 2 %") == FAILED
    assert status("slower than 90 %") == 0


@pytest.mark.parametrize(
    ("text", "factor", "met"),
    [
        ("slower than 2 %", (1.03, 1.021, 1.04), True),
        ("slower than 2%", (1.03, 1.01, 1.05), False),  # not shown to be
        ("slower", (1.001, 1.0005, 1.002), True),
        ("faster than 10 %", (0.8, 0.78, 0.82), True),
        ("faster than 10 %", (0.95, 0.94, 0.96), False),
        ("different than 1 %", (0.8, 0.78, 0.82), True),
        ("different", (1.0, 0.99, 1.01), False),
    ],
)
def test_condition(text: str, factor: tuple[float, float, float], met: bool) -> None:
    outcome = Compared(Answer.SLOWER, Interval(*factor), Interval(1, 0.99, 1.01), 10)
    assert Condition.of(text).is_met(outcome) is met


# Computes until all three have begun and it has used so much of a CPU.
USES = """import os, sys, time
open(sys.argv[1], "w").close()
while len(os.listdir(".")) < 3 or time.process_time() < float(sys.argv[2]): pass"""


def test_programs_that_compute_take_turns(tmp_path: Path) -> None:
    amounts_s = [0.1, 0.3, 0.2]
    done = run_in_turns(
        [
            Program((sys.executable, "-S", "-c", USES, name, str(amount)), tmp_path)
            for name, amount in zip("abc", amounts_s, strict=True)
        ],
        random.Random(1),
        PLACE,
    )
    # A hundredth of a second was used before the clock ran, at most: by the shell that waited.
    assert all(
        run.cpu_ns > (amount - 0.01) * 1e9 for run, amount in zip(done, amounts_s, strict=True)
    )
    assert max(run.turns for run in done) > 1


def test_how_a_case_is_run_follows_from_what_its_programs_do() -> None:
    def planned(program: Program) -> rounds.Measured:
        case = Case("case", ("a", "b"), program, program, program)
        return rounds._planned(case, Limits(), random.Random(1))

    sleeps, computes = planned(Program(("sleep", "0.2"), Path())), planned(computing(6_000_000))
    assert not sleeps.in_turns
    assert computes.in_turns
    assert len(computes.place.cpus) == 1


@pytest.mark.parametrize(
    ("command", "words"),
    [
        (("false",), "false: exit status 1"),
        (("sh", "-c", "echo no such table >&2; exit 4"), "exit status 4: no such table"),
        (("sh", "-c", "kill -SEGV $$"), "was ended by signal 11"),
        (("sleep", "60"), "did not end within 0.2 s; give it longer with --limit"),
    ],
)
def test_a_failing_command_is_named(command: tuple[str, ...], words: str) -> None:
    with pytest.raises(BenchbookError, match=re.escape(words)):
        run_whole(Program(command, Path()), None, random.Random(1), Place(PLACE.cpus, 0.2))


def test_output_has_a_bound() -> None:
    with pytest.raises(BenchbookError, match="printed more than 64 MiB"):
        run_whole(Program(("yes",), Path()), Metric("(y)"), random.Random(1), PLACE)


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (["true"], "two commands are needed"),
        (["true", "--", "true", "--", "true"], "two commands are needed"),
        (["no-such-program", "--", "true"], "no-such-program is no program on PATH"),
        (["./absent", "--", "true"], "./absent is no program in"),
        (["--metric=(", "true", "--", "true"], "no regular expression"),
        (["--metric=took", "true", "--", "true"], "0 groups; put exactly one pair of brackets"),
        (
            ["--fail-if=worse", "true", "--", "true"],
            "write slower, faster, different, more or fewer",
        ),
        (["--build=make", "true", "--", "true"], "name two of them with --rev"),
        (["--rev=HEAD", "true"], "name two commits, the older first"),
        (["absent.yaml"], "absent.yaml: cannot be read"),
    ],
)
def test_refusals_are_one_sentence(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    words: list[str],
    sentence: str,
) -> None:
    """In this process: nothing is started, and Python takes a second to start."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "argv", ["benchbook", "ab", *with_dashes(words)])
    with pytest.raises(SystemExit, match=r"^1$"):
        main()
    is_refused(capsys.readouterr().err, sentence)


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (["--metric=(took)", "true", "--", "true"], "nothing that the command printed fits"),
        (["--metric=(.)", "echo", "x", "--", "true"], "which is no number above zero"),
    ],
)
def test_figures_are_refused_in_one_sentence(
    tmp_path: Path, words: list[str], sentence: str
) -> None:
    done = ab(*with_dashes(words), folder=tmp_path)
    assert done.returncode == 1
    is_refused(done.stderr, sentence)


def with_dashes(words: list[str]) -> list[str]:
    """The options, two dashes, and the commands."""
    options = [word for word in words if word.startswith("--") and word != "--"]
    return [*options, "--", *words[len(options) :]]


def is_refused(said: str, sentence: str) -> None:
    assert sentence in said
    assert said.startswith("benchbook: ")
    assert said.count("\n") == 1


def test_cases_of_a_file(tmp_path: Path) -> None:
    (tmp_path / "cases.yaml").write_text(
        "cases:\n"
        "  same: {a: cat figure, b: cat figure, metric: '(\\S+) s', "
        "setup: echo 2 s >figure, cleanup: rm figure}\n"
        "  other: {a: echo 3, b: echo 6, metric: '(.+)'}\n"
    )
    done = ab("--json", "--budget=4", "cases.yaml", folder=tmp_path)
    assert done.returncode == 0, done.stderr
    same, other = json.loads(done.stdout)
    assert (same["name"], same["answer"], same["factor"]["ratio"]) == ("same", "equal", 1.0)
    assert (other["answer"], other["factor"]["ratio"]) == ("slower", pytest.approx(2))
    assert not (tmp_path / "figure").exists()


def test_two_commits_are_built_and_compared(tmp_path: Path) -> None:
    def git(*words: str) -> str:
        settings = ("-c", "user.name=a", "-c", "user.email=a@b", "-c", "commit.gpgsign=false")
        return subprocess.run(
            ["git", *settings, *words], cwd=tmp_path, capture_output=True, text=True, check=True
        ).stdout

    git("init", "-q")
    for figure in (5, 4):
        (tmp_path / "figure.txt").write_text(f"{figure}\n")
        git("add", "figure.txt")
        git("commit", "-qm", str(figure))
    build = "cp figure.txt built; echo >>built"
    words = ("--rev=HEAD~1", "--rev=HEAD", f"--build={build}", "--metric=(\\S+)", "--budget=2")
    done = ab(*words, "--json", "--", "cat", "built", folder=tmp_path)
    assert done.returncode == 0, done.stderr
    content = json.loads(done.stdout)
    assert (content["a"], content["b"], content["answer"]) == ("HEAD~1", "HEAD", "faster")
    assert content["factor"]["ratio"] == pytest.approx(0.8)
    assert git("worktree", "list").count("\n") == 1
    for wrong, sentence in (
        (("--rev=absent", "--rev=HEAD"), "has no such commit"),
        (("--rev=HEAD", "--rev=HEAD", "--build=echo broken; false"), "broken"),
    ):
        refused = ab(*wrong, "--", "cat", "built", folder=tmp_path)
        assert refused.returncode == 1
        assert sentence in refused.stderr
    assert git("worktree", "list").count("\n") == 1


SOURCE = """
#include <stdlib.h>
int main(void) {
    volatile int sum = 0;
    for (int i = 0; i < 100000; i++) sum += ADDED;
    return 0;
}
"""


LAYOUTS = {
    "wide-pages": ["-falign-functions=64", "-Wl,-z,max-page-size=0x10000"],
    "aligned": ["-falign-functions=4096"],
    "together": ["-Wl,-z,noseparate-code", "-falign-functions=32"],
    "no-relro": ["-Wl,-z,norelro", "-no-pie"],
}


def counts_of(folder: Path, b: str) -> dict[str, counted.Count]:
    first, second = (Program((f"./{name}",), folder) for name in ("plain", b))
    case = Case("case", ("plain", b), first, first, second)
    return {count.event: count for count in counted.count(case, PLACE, random.Random())}


def compiled(folder: Path, name: str, *words: str) -> None:
    (folder / "a.c").write_text(SOURCE)
    subprocess.run(["cc", "-O1", *words, "-o", name, "a.c"], cwd=folder, check=True)


@pytest.mark.skipif(not shutil.which("valgrind"), reason="valgrind is absent")
def test_counted_work(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """An added load of the loop is found; the same program counts the same to the instruction."""
    monkeypatch.setattr(counted, "RUNS", 5)
    compiled(tmp_path, "plain", "-DADDED=i")
    compiled(tmp_path, "more", "-DADDED=i + (sum & 1)")
    more = counts_of(tmp_path, "more")
    instructions = more["instructions"]
    assert instructions.differs
    assert instructions.ratio > 1.1
    assert len(instructions.counts["a"]) == 5
    assert instructions.counts["a"] == instructions.counts["again"]
    lines = ab_sentences.counted(list(more.values()))
    assert re.match(r"Instructions: A [\d,]+, B [\d,]+, \d+ % more", lines[0].replace("\xa0", " "))


@pytest.mark.skipif(not shutil.which("valgrind"), reason="valgrind is absent")
@pytest.mark.parametrize("layout", LAYOUTS)
def test_two_layouts_of_a_source_count_the_same(tmp_path: Path, layout: str) -> None:
    compiled(tmp_path, "plain", "-DADDED=i")
    compiled(tmp_path, layout, "-DADDED=i", *LAYOUTS[layout])
    assert [count.event for count in counts_of(tmp_path, layout).values() if count.differs] == []


def test_page(tmp_path: Path) -> None:
    done = ab(
        *("--html=page.html", "--budget=2", r"--metric=(\d+)", "--"),
        *("echo", "1 <i>", "--", "echo", "2"),
        folder=tmp_path,
    )
    assert done.returncode == 0, done.stderr
    page = (tmp_path / "page.html").read_text()
    assert "B is worse: it has 2.00 times" in page
    assert "echo 1 &lt;i&gt;" in page
    assert "<svg" in page


def test_nothing_lives_on_after_a_kill(tmp_path: Path) -> None:
    mark = f"ab-test-{os.getpid()}"
    command = [sys.executable, "-c", "while True: pass", mark]
    words = [sys.executable, "-m", "benchbook", "ab", "--", *command, "--", *command]
    process = subprocess.Popen(words, cwd=tmp_path, env=environment(tmp_path))
    until = time.monotonic() + 60
    while not marked(mark) and time.monotonic() < until:
        time.sleep(0.05)
    assert marked(mark)
    process.send_signal(signal.SIGKILL)
    process.wait()
    until = time.monotonic() + 20
    while marked(mark) and time.monotonic() < until:
        time.sleep(0.05)
    assert not marked(mark)


def marked(mark: str) -> list[str]:
    """Processes with that word at the end of their command line, but not `ab` itself."""
    found = []
    for path in Path("/proc").glob("[0-9]*/cmdline"):
        try:
            words = path.read_bytes().decode(errors="replace").strip("\0").split("\0")
        except OSError:
            continue
        if words[-1] == mark and "ab" not in words:
            found.append(path.parent.name)
    return found


def measured(costs: dict[str, list[float]], **fields: float) -> rounds.Measured:
    """A case whose runs are given."""
    program = Program(("true",), Path())
    case = Case("case", ("a", "b"), program, program, program)

    def run(cost: float) -> runs.Run:
        return runs.Run(cost, round(cost), round(cost), round(fields.get("delay", 0) * cost), 1)

    pilot = {arm: [run(fields.get("first", 1e7)), run(1e7)] for arm in ("a", "b")}
    each = [
        {arm: [run(cost)] for arm, cost in zip(costs, row, strict=True)}
        for row in zip(*costs.values(), strict=True)
    ]
    outcome = rounds.Measured(case, Limits(), PLACE, False, False, 1, 1, pilot, each)
    outcome.steal = fields.get("steal")
    outcome.compared = compared(outcome.logs(), 1, 0.01)
    return outcome


def noisy(centre: float, seed: int, amount: int = 20) -> list[float]:
    return (centre * np.exp(np.random.default_rng(seed).normal(0, 0.01, amount))).tolist()


QUIET = {"a": noisy(1e7, 1), "again": noisy(1e7, 2), "b": noisy(1.1e7, 3)}
TWO_STATES = {arm: [c * (1 + (k % 5 > 2)) for k, c in enumerate(QUIET[arm])] for arm in QUIET}


@pytest.mark.parametrize(
    ("costs", "fields", "codes"),
    [
        (QUIET, {}, []),
        (QUIET, {"steal": 0.2}, ["steal"]),
        (QUIET, {"steal": 0.001}, []),
        (QUIET, {"delay": 0.3}, ["waited"]),
        (QUIET, {"first": 5e7}, ["cold_start"]),
        (TWO_STATES, {}, ["two_states"]),
        (QUIET | {"again": noisy(1.2e7, 2)}, {}, ["twins_differ"]),
        ({arm: [cost / 100 for cost in costs] for arm, costs in QUIET.items()}, {}, ["short"]),
    ],
)
def test_symptoms(costs: dict[str, list[float]], fields: dict, codes: list[str]) -> None:
    outcome = measured(costs, **fields)
    named = [symptom.code for symptom in symptoms.of(outcome)]
    assert [code for code in named if code != "cold_start" or "first" in fields] == codes
    assert len(ab_sentences.symptom_sentences(outcome)) == max(len(named), 1)


def test_a_wrong_number_of_words_names_both_commands() -> None:
    case = of_commands(["echo", "1", "--", "echo", "2"], Path("/"), None)
    assert case.names == ("echo 1", "echo 2")
    assert case.again is case.a


def test_measure_answers_for_equal_figures() -> None:
    program = Program(("echo", "7"), Path())
    case = Case("case", ("a", "b"), program, program, program, Metric("(.)"))
    outcome = measure(case, Limits(budget_s=1), random.Random(1))
    assert outcome.compared
    assert outcome.compared.answer == Answer.EQUAL
    assert outcome.compared.factor == Interval(1.0, 1.0, 1.0)
