"""500 archives of somebody who means harm, verified and imported: each is refused in one sentence
and leaves nothing."""

from __future__ import annotations

import json
import random
import stat
import tempfile
import zipfile
from collections.abc import Callable
from pathlib import Path

import pytest

from benchbook.core.errors import BenchbookError
from benchbook.crate import contents
from benchbook.crate.import_archive import import_archive
from benchbook.crate.verify import verify

ARCHIVES = 500
SECRET = "secret.txt"
RUN = "data/runs/host/mbw/r1"
Files = dict[str, bytes]


def good() -> Files:
    """The files of a small archive whose list, sums and index are right."""
    run = {"experiment": "mbw", "run": "r1", "folder": RUN, "main": True}
    index = contents.Index("", "host", "quick", ("mbw",), (), (contents.ArchivedRun(**run),))
    files = {
        contents.INDEX: json.dumps(index.as_json()).encode(),
        "README.md": b"# Measurements\n",
        f"{RUN}/journal.jsonl": b'{"kind": "run"}\n' * 50,
        "results/host/quick/mbw/current.json": b"{}",
    }
    return summed(files)


def summed(files: Files) -> Files:
    own = {name: content for name, content in files.items() if name != contents.SUMS}
    digests = [(name, contents.sha256(content)) for name, content in own.items()]
    return own | {contents.SUMS: contents.sums_text(digests).encode()}


def packed(path: Path, files: Files, **odd: Callable[[zipfile.ZipInfo], None]) -> Path:
    """A zip of these files; `odd` changes what the zip says of the file of that name."""
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as target:
        for name, content in files.items():
            about = zipfile.ZipInfo(name)
            about.compress_type = zipfile.ZIP_DEFLATED
            odd.get("all", lambda _: None)(about)
            target.writestr(about, content)
    return path


def leads_out(path: Path, dice: random.Random) -> None:
    up = "../" * dice.randint(1, 8)
    names = [
        f"{up}{SECRET}",
        f"/tmp/{SECRET}",
        f"a/{up}{SECRET}",
        f"C:{SECRET}",
        f"a\\..\\{SECRET}",
    ]
    packed(path, summed(good() | {dice.choice(names): b"x"}))


def odd_name(path: Path, dice: random.Random) -> None:
    names = ["a\nb", "a\x1bb", "x" * 300, "/".join("a" * 20), "a//b", "./a", "a/.", "\u202egpj.exe"]
    packed(path, summed(good() | {dice.choice(names): b"x"}))


def link(path: Path, dice: random.Random) -> None:
    kind = dice.choice([stat.S_IFLNK, stat.S_IFCHR, stat.S_IFBLK, stat.S_IFIFO, stat.S_IFSOCK])

    def is_link(about: zipfile.ZipInfo) -> None:
        about.external_attr = (kind | 0o777) << 16

    packed(path, summed(good() | {"a": b"/etc/passwd"}), all=is_link)


def bomb(path: Path, dice: random.Random) -> None:
    packed(path, summed(good() | {"a.json": b"\0" * dice.randint(2 << 20, 6 << 20)}))


def wrong_sum(path: Path, dice: random.Random) -> None:
    files = good()
    name = dice.choice([name for name in files if name != contents.SUMS])
    content = bytearray(files[name])
    content[dice.randrange(len(content))] ^= 1 << dice.randrange(8)
    packed(path, files | {name: bytes(content)})


def wrong_list(path: Path, dice: random.Random) -> None:
    files = good()
    if dice.random() < 0.5:
        del files[dice.choice(["README.md", f"{RUN}/journal.jsonl"])]
    else:
        files["reports/extra.html"] = b"<script>alert(1)</script>"
    packed(path, files)


def wrong_index(path: Path, dice: random.Random) -> None:
    files = good()
    index = json.loads(files[contents.INDEX])
    scripts = ["<script>", "../..", "a/b", "\0", "$(touch x)", "a" * 300, 5, None, [], {}]
    change = dice.choice(["version", "host", "preset", "experiments", "runs", "commit", "profile"])
    index[change] = dice.choice(scripts) if change != "version" else dice.choice([0, 2, "1", None])
    packed(path, summed(files | {contents.INDEX: json.dumps(index).encode()}))


def no_index(path: Path, dice: random.Random) -> None:
    texts = [b"", b"[" * 100_000, b"\xff\xfe", b"null", b"{", b"NaN" * 5]
    packed(path, summed(good() | {contents.INDEX: dice.choice(texts)}))


def cut_off(path: Path, dice: random.Random) -> None:
    packed(path, good())
    content = path.read_bytes()
    path.write_bytes(content[: dice.randrange(len(content) - 1)])


def noise(path: Path, dice: random.Random) -> None:
    packed(path, good())
    content = bytearray(path.read_bytes())
    for _ in range(dice.randint(3, 40)):
        content[dice.randrange(len(content))] = dice.randrange(256)
    path.write_bytes(content)


def twice(path: Path, dice: random.Random) -> None:
    files = summed(good() | {dice.choice(["readme.md", "README.MD", "data", "results/host"]): b"x"})
    packed(path, files)


KINDS = [leads_out, odd_name, link, bomb, wrong_sum, wrong_list, wrong_index, no_index, cut_off]
KINDS += [noise, twice]


def imported(path: Path) -> None:
    """Import into an empty checkout, the folder next to the archive's."""
    import_archive(path.parents[1] / "checkout", path)


# Why an archive without harm is refused: its run lacks files.
WITHOUT_HARM = {verify: "manifest.json cannot be read", imported: "plan.json is missing"}


@pytest.mark.parametrize("read", WITHOUT_HARM, ids=lambda read: read.__name__)
def test_without_harm_it_is_refused_for_its_run_alone(
    read: Callable[[Path], object], tmp_path: Path
) -> None:
    (tmp_path / "archives").mkdir()
    with pytest.raises(BenchbookError, match=WITHOUT_HARM[read]):
        read(packed(tmp_path / "archives/good.zip", good()))


@pytest.mark.parametrize("read", WITHOUT_HARM, ids=lambda read: read.__name__)
@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.__name__)
def test_each_is_refused_in_one_sentence(
    kind: Callable[[Path, random.Random], None],
    read: Callable[[Path], object],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    (tmp_path / "checkout").mkdir()
    scratch = tmp_path / "scratch"
    scratch.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(scratch))
    dice = random.Random(kind.__name__)
    for number in range(-(-ARCHIVES // len(KINDS))):
        path = tmp_path / "archives" / f"{number}.zip"
        path.parent.mkdir(exist_ok=True)
        kind(path, dice)
        with pytest.raises(BenchbookError) as refused:
            read(path)
        sentence = str(refused.value)
        # Noise may hit what nobody reads, such as the time of a file in a zip.
        assert kind is noise or WITHOUT_HARM[read] not in sentence
        assert sentence.isprintable() and len(sentence) < 500, sentence
        assert "Traceback" not in sentence
        assert [*scratch.iterdir(), *(tmp_path / "checkout").iterdir()] == []
        path.unlink()
    assert not list(tmp_path.rglob(SECRET)) and not Path("/tmp", SECRET).exists()
