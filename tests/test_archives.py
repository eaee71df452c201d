"""Archives: written as a valid crate without names, verified to the byte, damage named by file."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import crate_lab
import pytest
from conftest import ROOT
from crate_lab import sum_anew

from benchbook.core.errors import BenchbookError
from benchbook.core.files import read_json, write_json
from benchbook.crate import contents
from benchbook.crate.export import Exported, export
from benchbook.crate.safe_files import UnsafeArchiveError
from benchbook.crate.verify import verify

pytest.importorskip("rocrate", reason="rocrate is not installed; `make test` brings it")
JOURNAL = f"data/runs/{crate_lab.HOST}/{crate_lab.EXPERIMENT}/{crate_lab.RUN.name}/journal.jsonl"
Graph = list[dict[str, Any]]
RESULTS = f"results/{crate_lab.HOST}/{crate_lab.PRESET}"


@pytest.fixture(scope="module")
def lab(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return crate_lab.make_lab(tmp_path_factory.mktemp("lab"))


def exported(lab: Path, target: Path, *names: str) -> Exported:
    return export(lab, target, [*names], crate_lab.HOST, crate_lab.PRESET)


@pytest.fixture(scope="module")
def crate(lab: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An archive as a folder; tests change copies of it."""
    return exported(lab, tmp_path_factory.mktemp("archive") / "crate").path


@pytest.fixture
def copy(crate: Path, tmp_path: Path) -> Path:
    return shutil.copytree(crate, tmp_path / "copy")


def failed_checks(crate: Path, severity: str) -> list[str]:
    pytest.importorskip("rocrate_validator", reason="roc-validator is not installed")
    program = [sys.executable, ROOT / "tests/crate_context.py", crate, severity]
    done = subprocess.run(program, capture_output=True, text=True, check=False, env=os.environ)
    assert done.returncode == 0, done.stderr
    return done.stdout.splitlines()


def test_an_archive_is_a_valid_workflow_run_crate(crate: Path) -> None:
    failed = [line for line in failed_checks(crate, "RECOMMENDED") if line]
    assert [line for line in failed if line.startswith("REQUIRED")] == []
    content = json.loads((crate / contents.METADATA).read_text())
    graph = {entity["@id"]: entity for entity in content["@graph"]}
    files = {str(path.relative_to(crate)) for path in crate.rglob("*") if path.is_file()}
    assert {part["@id"] for part in graph["./"]["hasPart"]} == files - {
        *(contents.METADATA, contents.SUMS)
    }
    assert f"workflow/{contents.PROFILE_VERSION}" in json.dumps(graph["./"]["conformsTo"])
    variants = [entity for entity in graph.values() if entity["@id"].startswith("#variant/")]
    assert variants
    built = read_json(crate / f"build/{crate_lab.EXPERIMENT}/gcc-O2/variant.json")
    hashes = {variant["@id"]: variant.get("sha256") for variant in variants}
    assert hashes[f"#variant/{crate_lab.EXPERIMENT}/gcc-O2"] == built["binary"]["sha256"]


def entity(graph: Graph, key: str, value: str) -> dict[str, Any]:
    return next(item for item in graph if item[key] == value)


def without_license(graph: Graph) -> None:
    entity(graph, "@id", "./").pop("license")


def without_profile(graph: Graph) -> None:
    entity(graph, "@id", "./").pop("conformsTo")


def without_workflow(graph: Graph) -> None:
    entity(graph, "@id", "./").pop("mainEntity")


def without_action(graph: Graph) -> None:
    graph.remove(entity(graph, "@id", "#measurement"))


def without_language(graph: Graph) -> None:
    entity(graph, "@id", "Snakefile").pop("programmingLanguage")


def without_parameter(graph: Graph) -> None:
    entity(graph, "@type", "FormalParameter")["@type"] = "PropertyValue"


def without_type(graph: Graph) -> None:
    entity(graph, "@type", "FormalParameter").pop("additionalType")


# Each MUST with the words of the validator that object to a crate without it. It takes seconds to
# start, so what hides nothing of each other goes into one crate.
LACKING = (
    {
        without_license: "license",
        without_profile: "The Root Data Entity MUST reference a CreativeWork entity",
        without_action: "MUST reference the root data entity's mainEntity as its instrument",
        without_type: "FormalParameter MUST have an additionalType",
    },
    {
        without_language: "The Main Workflow must refer to its language",
        without_parameter: "input and output MUST point to FormalParameter entities",
    },
    {without_workflow: "The Main Workflow must be specified through a `mainEntity` property"},
)


@pytest.mark.parametrize("lacking", LACKING, ids=["four", "two", "workflow"])
def test_the_validator_sees_what_a_crate_lacks(
    copy: Path, lacking: dict[Callable[[Graph], None], str]
) -> None:
    content = json.loads((copy / contents.METADATA).read_text())
    for change in lacking:
        change(content["@graph"])
    (copy / contents.METADATA).write_text(json.dumps(content))
    failed = failed_checks(copy, "REQUIRED")
    for words in lacking.values():
        assert any(line.startswith("REQUIRED") and words in line for line in failed), failed


def test_a_zip_has_the_same_files_and_the_same_bytes_again(
    lab: Path, crate: Path, tmp_path: Path
) -> None:
    first, second = (exported(lab, tmp_path / name).path for name in ("a.zip", "b.zip"))
    assert first.read_bytes() == second.read_bytes()
    with zipfile.ZipFile(first) as packed:
        assert {name: packed.read(name) for name in packed.namelist()} == {
            str(path.relative_to(crate)): path.read_bytes()
            for path in crate.rglob("*")
            if path.is_file()
        }
    assert verify(first).differences == []


def test_names_of_people_and_machines_are_left_out(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "lab").mkdir()
    own = crate_lab.make_lab(tmp_path / "lab")
    journal = own / JOURNAL
    line = json.loads(journal.read_text().splitlines()[-1])
    names = f"/home/annabel/bench: annabel@vortex17:~$ ran on vortex17 in {own}/build"
    line |= {"reason": names}
    journal.write_text(
        "".join([*journal.read_text().splitlines(keepends=True)[:-1], json.dumps(line) + "\n"])
    )
    crate_lab.remake(own)
    monkeypatch.chdir(own)
    about = os.uname()
    monkeypatch.setattr(os, "uname", lambda: type(about)((about[0], "vortex17", *about[2:])))
    done = exported(own, tmp_path / "crate")
    assert JOURNAL in done.renamed
    for path in done.path.rglob("*"):
        if path.is_file():
            text = path.read_bytes()
            assert not any(word in text for word in (b"annabel", b"vortex17", bytes(own))), path
    assert verify(done.path).differences == []


def test_results_that_do_not_follow_from_the_run_are_not_exported(
    lab: Path, tmp_path: Path
) -> None:
    own = shutil.copytree(lab, tmp_path / "lab")
    path = own / RESULTS / crate_lab.PAPER / "paper.json"
    content = json.loads(path.read_text())
    claims = [claim for figure in content["figures"] for claim in figure["claims"]]
    claims[0]["verdict"] = "not_reproduced" if claims[0]["verdict"] != "not_reproduced" else "-"
    path.write_text(json.dumps(content))
    with pytest.raises(BenchbookError, match=r"paper\.json is not what this version"):
        exported(own, tmp_path / "crate")
    assert [path.name for path in tmp_path.iterdir()] == ["lab"]


def test_what_cannot_be_exported_is_refused_in_one_sentence(lab: Path, tmp_path: Path) -> None:
    with pytest.raises(BenchbookError, match="'stream'; name one of slocum2013-mbw, mbw"):
        exported(lab, tmp_path / "crate", "stream")
    with pytest.raises(BenchbookError, match="has no results"):
        export(lab, tmp_path / "crate", [], crate_lab.HOST, "paper")
    with pytest.raises(BenchbookError, match="exists"):
        exported(lab, tmp_path)
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize(
    "name",
    [
        *(JOURNAL, f"{RESULTS}/verdicts.json", f"{RESULTS}/mbw/analysis.json", "Snakefile"),
        *(
            f"reports/{crate_lab.PAPER}.html",
            contents.METADATA,
            contents.INDEX,
            "requirements.lock",
        ),
        *("build/mbw/gcc-O2/variant.json", f"data/published/{crate_lab.PAPER}/paper.yaml"),
    ],
)
def test_a_flipped_bit_is_found_and_its_file_is_named(copy: Path, name: str) -> None:
    content = bytearray((copy / name).read_bytes())
    content[len(content) // 2] ^= 1
    (copy / name).write_bytes(content)
    with pytest.raises(UnsafeArchiveError, match=name.replace(".", r"\.")):
        verify(copy)


def test_a_sample_that_was_changed_and_summed_anew_is_found(copy: Path) -> None:
    lines = (copy / JOURNAL).read_text().splitlines()
    at = next(at for at, line in enumerate(lines) if len(json.loads(line).get("time_ns", [])) > 1)
    record = json.loads(lines[at])
    record["time_ns"] = [3 * time_ns for time_ns in record["time_ns"]]
    lines[at] = json.dumps(record)
    (copy / JOURNAL).write_text("".join(f"{line}\n" for line in lines))
    sum_anew(copy)
    (first, *_) = verify(copy).differences
    assert first.file == f"{RESULTS}/mbw/analysis.json"
    assert first.place.startswith("points/")


def test_a_verdict_that_was_changed_and_summed_anew_is_found(copy: Path) -> None:
    path = copy / RESULTS / "verdicts.json"
    content = read_json(path)
    content["items"][0]["verdict"] = "not_reproduced"
    write_json(path, content)
    sum_anew(copy)
    (found,) = verify(copy).differences
    assert (found.file, found.place) == (f"{RESULTS}/verdicts.json", "items/0/verdict")
    assert '"not_reproduced" there' in found.sentence()


def test_the_same_archive_gives_the_same_verdicts_anywhere(lab: Path, tmp_path: Path) -> None:
    """Another folder, order of sets, time zone, language, and kernels of linear algebra."""
    zipped = exported(lab, tmp_path / "crate.zip").path
    surroundings = (
        {"PYTHONHASHSEED": "1", "TZ": "UTC", "LC_ALL": "C.UTF-8", "OPENBLAS_CORETYPE": "Haswell"},
        {"PYTHONHASHSEED": "2", "TZ": "Asia/Kathmandu", "LC_ALL": "C", "LANG": "tr_TR.UTF-8"},
    )
    program = (
        "import sys; from pathlib import Path; from benchbook.crate import safe_files, recompute\n"
        "with safe_files.opened(Path(sys.argv[1])) as archive:\n"
        "    archive.unpack(Path('.')); index = archive.index()\n"
        "for name in recompute.recompute(Path('.'), index): print(name)\n"
    )
    outcomes = []
    for number, variables in enumerate(surroundings):
        place = tmp_path / ("nested/deeper" if number else "short")
        place.mkdir(parents=True)
        done = subprocess.run(
            [sys.executable, "-c", program, zipped],
            cwd=place,
            env=os.environ | variables | {"PYTHONPATH": os.pathsep.join([str(ROOT), *sys.path])},
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == 0, done.stderr
        names = done.stdout.splitlines()
        outcomes.append({name: (place / name).read_bytes() for name in names})
    first, second = outcomes
    assert first == second
    assert f"{RESULTS}/verdicts.json" in first
    with zipfile.ZipFile(zipped) as packed:
        assert {name: packed.read(name) for name in first} == first
