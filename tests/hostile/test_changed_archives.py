"""Archives with a changed value and new checksums: what is imported can be read."""

from __future__ import annotations

import json
import random
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import crate_lab
import pytest
from conftest import ROOT
from test_archive_import import POINTER, RUN, unsealed
from test_archives import exported, sum_anew

from benchbook.compare import compare
from benchbook.core.errors import BenchbookError
from benchbook.crate import contents
from benchbook.crate.import_archive import import_archive
from benchbook.records import journal
from benchbook.report import compare_sentences

pytest.importorskip("rocrate", reason="rocrate is not installed; `make test` brings it")
VALUES = ["x", "\x1b[31m", [], ["x"], {}, [[1], [2]], None, 1.5, -1, 10**400, True, "9" * 5000]
VALUES += ["../../../../etc/passwd", {"a": {}}]
FILES = [f"{RUN}/{name}" for name in (journal.PLAN, journal.MANIFEST)]
FILES += [f"{RUN}/{name}" for name in (journal.JOURNAL, journal.PROBES)]
FILES += [POINTER, f"build/{crate_lab.EXPERIMENT}/gcc-O2/variant.json", contents.INDEX]


@pytest.fixture(scope="module")
def crate(tmp_path_factory: pytest.TempPathFactory) -> Path:
    lab = crate_lab.make_lab(tmp_path_factory.mktemp("theirs"))
    return exported(lab, tmp_path_factory.mktemp("archive") / "crate").path


def change(content: Any, dice: random.Random) -> None:
    """Remove a value at any depth, or put another one in its place."""
    places: list[Any] = []

    def collect(value: Any) -> None:
        if isinstance(value, dict | list) and value:
            places.append(value)
            for part in value.values() if isinstance(value, dict) else value:
                collect(part)

    collect(content)
    place = dice.choice(places)
    key = dice.choice(list(place) if isinstance(place, dict) else range(len(place)))
    if dice.random() < 0.25:
        del place[key]
    else:
        place[key] = dice.choice(VALUES)


def change_file(path: Path, dice: random.Random) -> None:
    """Change a JSON file, or a line of a journal."""
    lines = path.read_text().splitlines() if path.suffix == ".jsonl" else [path.read_text()]
    at = dice.randrange(len(lines))
    content = json.loads(lines[at])
    change(content, dice)
    lines[at] = json.dumps(content)
    path.write_text("".join(f"{line}\n" for line in lines))


@pytest.mark.parametrize("tries", [12, pytest.param(200, marks=pytest.mark.long)])
def test_what_is_imported_can_be_read_and_the_rest_is_refused_in_one_sentence(
    crate: Path, tmp_path: Path, tries: int, record_property: Callable[[str, int], None]
) -> None:
    dice = random.Random(tries)
    record_property("tried", tries)
    copy = shutil.copytree(crate, tmp_path / "copy")
    unsealed(copy)
    for number in range(tries):
        checkout = tmp_path / str(number)
        checkout.mkdir()
        (checkout / "kernels").symlink_to(ROOT / "kernels")
        path = copy / dice.choice(FILES)
        before = path.read_bytes()
        change_file(path, dice)
        sum_anew(copy)
        try:
            import_archive(checkout, copy)
            name = crate_lab.HOST
            assert compare_sentences.as_text(compare(checkout, name, name))
        except BenchbookError as refused:
            sentence = str(refused)
            assert sentence.isprintable() and len(sentence) < 500, sentence
            assert str(checkout) not in sentence
            assert [path.name for path in checkout.iterdir()] == ["kernels"]
        path.write_bytes(before)
