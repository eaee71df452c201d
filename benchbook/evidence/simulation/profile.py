"""What cachegrind writes: misses by function, and how two of its files differ."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from pathlib import Path

from benchbook.core.errors import BenchbookError

READS, WRITES = "DLmr", "DLmw"  # misses of the last level
REFERENCES = ("Dr", "Dw")
NEEDED = ("Ir", *REFERENCES, READS, WRITES)
# A function with less than this share of a difference's data references is housekeeping: what a
# program does to begin, to print and to end.
HOUSEKEEPING = 0.1


class ProfileError(BenchbookError):
    """A file that cachegrind did not write, or not to its end; names file and line."""


@dataclass(frozen=True)
class Profile:
    """Events of each function, and of all of them."""

    functions: dict[str, Counter[str]]
    total: Counter[str]


def read_profile(path: Path) -> Profile:
    """Read a cachegrind.out file. ProfileError where it is foreign, damaged or not complete."""
    try:
        text = path.read_bytes()
    except OSError as error:
        raise ProfileError(f"{path} cannot be read ({error.strerror}); run it again") from None
    return _Reader(path).read(text.decode("utf-8", errors="replace"))


@dataclass
class _Reader:
    path: Path

    def fail(self, number: int, why: str) -> ProfileError:
        return ProfileError(f"{self.path}:{number}: {why}; let cachegrind write it anew")

    def read(self, text: str) -> Profile:
        events: list[str] = []
        total: Counter[str] | None = None
        functions: dict[str, Counter[str]] = {}
        function = None
        number = 0
        for number, line in enumerate(text.splitlines(), 1):
            head, colon, rest = line.partition(":")
            if total is not None:
                raise self.fail(number, "there is more after the summary")
            if number == 1 and not line.startswith("desc:"):
                raise self.fail(1, f"this is no file of cachegrind's, it begins with {line[:40]!r}")
            if line[:1].isdigit():
                if not events or function is None:
                    missing = "a function is named" if events else "the events are named"
                    raise self.fail(number, f"there are counts before {missing}")
                counts = self.counts(number, line.split()[1:], events)
                functions.setdefault(function, Counter()).update(counts)
            elif line.startswith("fn="):
                function = line[3:]
            elif colon and head == "events":
                events = rest.split()
                if absent := [name for name in NEEDED if name not in events]:
                    raise self.fail(number, f"it has no {absent[0]}: caches were not simulated")
            elif colon and head == "summary":
                total = self.counts(number, rest.split(), events)
            elif line and head not in ("desc", "cmd") and line[:3] not in ("fl=", "fi=", "fe="):
                raise self.fail(number, f"{line[:40]!r} is not understood")
        if total is None:
            raise self.fail(number, "it ends without a summary")
        summed: Counter[str] = sum(functions.values(), Counter())
        if wrong := [name for name in events if summed[name] != total[name]]:
            lines = f"the lines above count {summed[wrong[0]]} {wrong[0]}"
            raise self.fail(number, f"{lines} and the summary {total[wrong[0]]}")
        return Profile(functions, total)

    def counts(self, number: int, words: list[str], events: list[str]) -> Counter[str]:
        if len(words) != len(events):
            raise self.fail(number, f"{len(words)} counts stand where there are {len(events)}")
        if wrong := [word for word in words if not (word.isascii() and word.isdigit())]:
            raise self.fail(number, f"{wrong[0]!r} is no count")
        return Counter(dict(zip(events, map(int, words), strict=True)))


@dataclass(frozen=True)
class Difference:
    """What one start did more than another."""

    lines_read: int  # missed first by a read
    lines_written: int  # missed first by a write
    executed: frozenset[str]  # functions that ran more instructions


def difference(less: Profile, more: Profile) -> Difference:
    """What `more` did beyond `less`, without the housekeeping of both."""
    grown: dict[str, Counter[str]] = {}
    for name, counts in more.functions.items():
        change = Counter(counts)
        change.subtract(less.functions.get(name, Counter()))
        grown[name] = change
    references = {name: sum(change[key] for key in REFERENCES) for name, change in grown.items()}
    least = HOUSEKEEPING * sum(count for count in references.values() if count > 0)
    counted = [change for name, change in grown.items() if references[name] > least]
    return Difference(
        lines_read=sum(change[READS] for change in counted),
        lines_written=sum(change[WRITES] for change in counted),
        executed=frozenset(name for name, change in grown.items() if change["Ir"] > 0),
    )
