"""One experiment's factors, variants and methods, which every setting of a point must keep."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from benchbook.core.errors import BenchbookError
from benchbook.core.sizes import parse_bytes, parse_counts
from benchbook.define.points import COUNTS, expand

# Stand-ins, so that nothing here depends on the host; no size that a person would write.
SIZES: dict[str, int | None] = {
    "L1d": 44 * 2**10,
    "L2": 7 * 2**20,
    "LLC": 997 * 2**20,
    "stated LLC": 1409 * 2**20,
    "total LLC": 1994 * 2**20,
    "RAM": 2**40,
    "cores": 23,
}
VARIANT = "variant"


@dataclass(frozen=True)
class Place:
    """A key of a definition file."""

    file: str
    key: str = ""

    def at(self, *parts: str | int) -> Place:
        """A key inside this one."""
        return Place(self.file, ".".join(str(part) for part in (self.key, *parts) if part != ""))

    def refusal(self, problem: str) -> BenchbookError:
        """The sentence about this key."""
        return BenchbookError(f"{self.file}: key {self.key!r} {problem}")

    def known(self, value: Any, allowed: Any, what: str) -> None:
        """Refuse a value that is not among those allowed."""
        if value not in allowed:
            raise self.refusal(f"is {value!r}, which is no {what}; allowed: {', '.join(allowed)}")

    def unique(self, names: list[str]) -> None:
        """Refuse a name that stands twice in this list."""
        for name in names:
            if names.count(name) > 1:
                raise self.refusal(f"has the id {name!r} twice; rename one")


@dataclass
class Space:
    """One experiment's factors, variants and methods, which every setting of a point must keep."""

    content: dict[str, Any]
    file: str
    kinds: dict[str, tuple[str, str]] = field(default_factory=dict)  # factor -> kind, where seen
    planned: set[str] = field(default_factory=set)  # ids of the points of all presets

    def points(self, place: Place, setting: dict[str, Any]) -> list[str]:
        """Ids of the points of a setting, each value of it checked."""
        for name, value in setting.items():
            if name != VARIANT and name not in self.content["factors"]:
                allowed = ", ".join([VARIANT, *self.content["factors"]])
                raise place.refusal(f"names {name!r}, which is no factor; allowed: {allowed}")
            if value == []:
                raise place.at(name).refusal("is an empty list; name a value or leave it out")
            for level in value if isinstance(value, list) else [value]:
                self._value(place.at(name), name, level)
        return [point.id for point in expand(self.content, [setting], SIZES)[0]]

    def known_point(self, place: Place, setting: dict[str, Any]) -> str:
        """The id of the one point of a setting; a preset must measure it."""
        for name, value in setting.items():
            if isinstance(value, list) and len(value) > 1:
                raise place.at(name).refusal("is a list, and one point is meant; name one value")
        points = self.points(place, setting)
        if len(points) > 1:
            raise place.refusal("names several points, and one is meant; name one value of each")
        self.must_be_planned(place, points)
        return points[0]

    def must_be_planned(self, place: Place, points: list[str]) -> None:
        """Refuse points that no preset measures: they would stay without a number for ever."""
        if not self.planned.issuperset(points):
            raise place.refusal(f"is in no preset of {self.file}; mend it or add it there")

    def _value(self, place: Place, name: str, value: Any) -> None:
        if name == VARIANT:
            place.known(value, self.content["variants"], VARIANT)
            return
        if self.content["factors"][name].get("unit") == "bytes":
            if name == "bytes" or value != 0:  # a distance may be none
                self.size(place, value)
            return
        if name in COUNTS:
            self._count(place, value)
            return
        kind = "text" if isinstance(value, str) else "a number"
        before, where = self.kinds.setdefault(name, (kind, place.key))
        if kind != before:
            raise place.refusal(
                f"is {value!r}, {kind}, and {where!r} of {self.file} is {before}; write the values "
                "of a factor all as text, in quotes, or all as numbers"
            )
        if name == "method":
            place.known(value, self.content["definitions"], "method in 'definitions'")

    def _count(self, place: Place, value: Any) -> None:
        try:
            parse_counts(value, SIZES["cores"] or 1)
        except BenchbookError:
            remedy = "it must be a whole number from 1, 'cores', '2 x cores' or '1 to cores'"
            raise place.refusal(f"is {value!r}; {remedy}") from None

    def size(self, place: Place, value: Any) -> None:
        """Refuse what is no size."""
        remedy = "write a size like '32 MiB', '4 x LLC' or 4096 (bytes)"
        try:
            size = parse_bytes(value, SIZES) if isinstance(value, str | int) else None
        except BenchbookError:
            size = None
        if size is None or size < 1:
            raise place.refusal(f"is {value!r}; {remedy}")
