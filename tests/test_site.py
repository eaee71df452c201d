"""A site of archives: checked before, refused with the reason, and no text of them is run."""

from __future__ import annotations

import json
import re
import shutil
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace

import crate_lab
import pytest
from browser import look
from conftest import ROOT
from playwright.sync_api import Browser
from test_pages_hostile import HOSTILE

from benchbook.commands import export as export_command
from benchbook.core.errors import BenchbookError
from benchbook.core.files import read_json, write_json
from benchbook.crate import contents, site
from benchbook.crate.export import export
from benchbook.judge.paper_json import PAPER

pytest.importorskip("rocrate", reason="rocrate is not installed; `make test` brings it")
OTHER = "other-cpu-4c-00112233"
NAME = crate_lab.PAPER


@pytest.fixture(scope="module")
def crate(tmp_path_factory: pytest.TempPathFactory) -> Path:
    top = tmp_path_factory.mktemp("archives")
    (top / "lab").mkdir()
    lab = crate_lab.make_lab(top / "lab")
    return export(lab, top / "crate", [], crate_lab.HOST, crate_lab.PRESET).path


def change_plan(crate: Path, change: Callable[[dict[str, object]], object]) -> None:
    for path in crate.rglob("data/runs/**/plan.json"):
        plan = read_json(path)
        change(plan)
        path.write_text(json.dumps(plan))


def hostile(crate: Path) -> None:
    """Scripts in the title, the claims and the facts; pages and a notebook that would run."""
    source = crate / f"data/published/{NAME}/paper.yaml"
    title = json.dumps(f"A title {HOSTILE}")
    text = re.sub(r"(?m)^title: .*$", lambda _: f"title: {title}", source.read_text())
    words = "is a whole order of magnitude faster"
    assert words in text
    source.write_text(text.replace(words, f"{words} <script>hit=7</script>"))
    change_plan(crate, lambda plan: plan["host_facts"].update(cpu_model=f"CPU {HOSTILE}"))  # type: ignore[attr-defined]
    (crate / f"reports/{NAME}.html").write_text("<script>hit=8</script>")
    (crate / "notebooks").mkdir()
    shutil.copyfile(ROOT / f"notebooks/{NAME}.ipynb", crate / f"notebooks/{NAME}.ipynb")


def newer_harness(crate: Path) -> None:
    change_plan(crate, lambda plan: plan.update(benchbook={"harness": 99}))


def odd_harness(crate: Path) -> None:
    change_plan(crate, lambda plan: plan.update(benchbook={"harness": "9"}))


def odd_cores(crate: Path) -> None:
    change_plan(crate, lambda plan: plan["host_facts"].update(usable_cores="many"))  # type: ignore[attr-defined]


def odd_memory(crate: Path) -> None:
    change_plan(crate, lambda plan: plan["host_facts"].update(memory_total_bytes="much"))  # type: ignore[attr-defined]


def other_method(crate: Path) -> None:
    path = crate / f"kernels/{crate_lab.EXPERIMENT}/experiment.yaml"
    text = path.read_text()
    assert "the destination equals the source" in text
    path.write_text(text.replace("the destination equals the source", "it was fast", 1))


def other_verdict(crate: Path) -> None:
    path = next(crate.rglob(f"results/**/{PAPER}"))
    content = json.loads(path.read_text())
    claims = [claim for figure in content["figures"] for claim in figure["claims"]]
    claims[0]["verdict"] = "not_measurable_here"
    write_json(path, content)


def unknown_paper(crate: Path) -> None:
    index = read_json(crate / contents.INDEX) | {"papers": []}
    write_json(crate / contents.INDEX, index)


def flipped_bit(crate: Path) -> None:
    path = crate / contents.README
    path.write_bytes(bytes([path.read_bytes()[0] ^ 1]) + path.read_bytes()[1:])


BAD = {
    newer_harness: "version 99 of the harness measured it",
    odd_harness: "version 9 of the harness measured it",
    odd_cores: "of its host",
    odd_memory: "its pages cannot be made",
    other_method: "it defines copy of mbw in another way than",
}
BAD_AFTER = {
    other_verdict: "paper.json is not what its raw samples lead to",
    unknown_paper: "it holds no paper",
}


@pytest.fixture(scope="module")
def made(crate: Path, tmp_path_factory: pytest.TempPathFactory) -> SimpleNamespace:
    """A site of two good archives, one of them hostile, and of many that are to be refused."""
    top = tmp_path_factory.mktemp("site")
    archives = [crate, crate_lab.archive_of_other_host(crate, top / "hostile", before=hostile)]
    expected = {}
    for change, reason in BAD.items():
        path = top / change.__name__
        archives.append(
            crate_lab.archive_of_other_host(crate, path, f"h-{path.name}", before=change)
        )
        expected[path] = reason
    for change, reason in BAD_AFTER.items():
        path = top / change.__name__
        archives.append(
            crate_lab.archive_of_other_host(crate, path, f"h-{path.name}", after=change)
        )
        expected[path] = reason
    flipped = shutil.copytree(crate, top / "flipped")
    flipped_bit(flipped)
    again = shutil.copytree(crate, top / "again")
    expected |= {
        flipped: "README.md does not match its checksum",
        again: "it holds the run",
        top / "absent.zip": "there is no such folder or file",
    }
    archives += [flipped, again, top / "absent.zip"]
    done = site.make_site(ROOT, top / "out", archives)
    return SimpleNamespace(done=done, expected=expected, top=top)


def test_archives_that_fail_are_refused_with_the_reason(made: SimpleNamespace) -> None:
    assert made.done.hosts == [crate_lab.HOST, OTHER]
    assert len(made.done.refused) == len(made.expected)
    for path, reason in made.expected.items():
        (sentence,) = [line for line in made.done.refused if line.startswith(f"{path}: ")]
        assert reason in sentence and sentence.isprintable(), sentence
    pages = {page.name for page in (made.top / "out/hosts").iterdir()}
    assert pages == {crate_lab.HOST, OTHER}
    assert {path.suffix for path in (made.top / "out").rglob("*") if path.is_file()} == {".html"}
    assert not list(made.top.glob(".*"))


def test_text_of_an_archive_is_read_and_never_run(made: SimpleNamespace, browser: Browser) -> None:
    pages = sorted((made.top / "out").rglob("*.html"))
    assert len(pages) == 1 + 2 * 4
    texts = []
    for page in pages:
        shown = browser.new_page()
        requests: list[str] = []
        shown.on("request", lambda request, requests=requests: requests.append(request.url))
        shown.goto(page.as_uri())
        assert shown.evaluate("typeof hit") == "undefined", page
        assert shown.evaluate("document.scripts.length") == 1, page
        strangers = "img, [onload], [onerror], [onmouseover], [href^=java]"
        assert shown.query_selector_all(strangers) == [], page
        assert requests == [page.as_uri()]
        texts.append(shown.inner_text("body"))
        shown.close()
    assert "<script>hit=7</script>" in texts[pages.index(made.top / "out/index.html")]
    assert (
        "<script>hit=1</script>" in texts[pages.index(made.top / f"out/hosts/{OTHER}/index.html")]
    )


def test_every_link_leads_to_a_page_of_the_site(made: SimpleNamespace) -> None:
    top = made.top / "out"
    led_to = set()
    for page in top.rglob("*.html"):
        for link in re.findall(r'href="(?!data:|https:)([^"#]+)', page.read_text()):
            target = (page.parent / link).resolve()
            assert target.is_file() and target.is_relative_to(top), (page, link)
            led_to.add(target)
    assert led_to == set(top.rglob("*.html"))
    shown = (made.top / f"out/hosts/{OTHER}/index.html").read_text()
    assert "among 2 machines" in shown and f"{OTHER} (this one)" in shown


def test_pages_fit_their_windows(made: SimpleNamespace, browser: Browser) -> None:
    for page in ("index.html", f"hosts/{crate_lab.HOST}/index.html"):
        seen = look(browser, made.top / "out" / page)
        assert seen["messages"] == [] and seen["overlaps"] == [] and seen["cut_off"] == []
        assert all(inner == width for width, inner in seen["widths"].items())
        assert seen["text"].count("what counts as holding") >= 1


def test_without_a_good_archive_nothing_is_written(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    target = tmp_path / "out"
    with pytest.raises(BenchbookError, match="1 of 1 archives refused; no site was made"):
        export_command.command([str(tmp_path / "a.zip")], site=target)
    assert "refused: " in capsys.readouterr().out
    with pytest.raises(BenchbookError, match="name the archives"):
        export_command.command(site=target)
    with pytest.raises(BenchbookError, match="exists"):
        export_command.command(["a.zip"], site=tmp_path)
    with pytest.raises(BenchbookError, match="--rocrate, --appendix or --site"):
        export_command.command(["a.zip"], site=target, appendix=target)
    assert not list(tmp_path.iterdir())


def test_presets_are_never_mixed(crate: Path, tmp_path: Path) -> None:
    first = site.Contribution(crate, read_index(crate), tmp_path, SimpleNamespace())  # type: ignore[arg-type]
    quick = read_index(crate).__class__(**vars(read_index(crate)) | {"preset": "quick"})
    with pytest.raises(BenchbookError, match=r"its preset is quick, and that of .* is tiny"):
        site._refuse_misfit(ROOT, quick, [first])


def read_index(crate: Path) -> contents.Index:
    return contents.Index.from_json(read_json(crate / contents.INDEX))
