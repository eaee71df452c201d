"""The locks hold exact versions with hashes and no address, and agree with each other."""

import re
from pathlib import Path

import pytest
from setup_place import LOCKS


def requirements(lock: Path) -> dict[str, str]:
    """Return the text of each requirement of a lock on one line, by name and version."""
    text = re.sub(r"(?m)^\s*#.*\n", "", lock.read_text()).replace("\\\n", " ")
    return {line.split()[0]: line for line in text.splitlines() if line.strip()}


@pytest.mark.parametrize("lock", LOCKS, ids=lambda path: path.name)
def test_a_lock_has_exact_versions_with_hashes_and_no_address(lock):
    text = lock.read_text()
    assert "://" not in text
    assert "make lock" in text.splitlines()[1]
    found = requirements(lock)
    assert found
    for name, line in found.items():
        assert re.fullmatch(r"[\w.\[\],-]+==[\w.!+]+", name), name
        assert "--hash=sha256:" in line, name


def test_the_other_locks_agree_with_the_run_time_lock():
    versions: dict[tuple[str, str], set[str]] = {}
    for lock in LOCKS:
        for line in requirements(lock).values():
            name, version = line.split()[0].split("==")
            marker = line.partition(";")[2].partition("--hash")[0].strip()
            versions.setdefault((name, marker), set()).add(version)
    assert {key: found for key, found in versions.items() if len(found) > 1} == {}
