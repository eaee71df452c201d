"""Lines of sysbench's tests of databases: what it reports each second, errors, and the rate that it
was told to keep."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

from benchbook.explain.lazy_regex import late

_N = r"\d+(?:\.\d+)?"
_INTERVAL = late(
    rf"^\[ *(?P<end>\d{{1,9}})s ?\] (?:thds|threads): \d{{1,7}},? tps: (?P<tps>{_N}),? "
    rf"(?:qps: (?P<qps>{_N}) |reads: )(?P<rest>.*)$"
)
_TIME = late(
    rf"(?:lat \(ms, ?(?P<share>\d{{2}})%\): (?P<time>{_N})|response time: (?P<old>{_N})ms "
    r"\((?P<old_share>\d{2})%\))"
)
_ERRORS = late(rf"\b(?:err/s:? |errors: )(?P<errors>{_N})")
_IGNORED = late(rf"^ignored errors: +(?P<count>\d{{1,15}}) +\({_N} per sec\.\)$")
_TARGET = late(r"^Target transaction rate: (?P<rate>\d{1,9})/sec$")


class Figure(NamedTuple):
    """A figure of such a line, as a reader adds it."""

    name: str
    digits: str
    unit: str
    statistic: str
    of: dict[str, Any]


def is_interval(text: str) -> bool:
    """Whether it is a line of an interval."""
    return text.startswith("[") and " tps: " in text and bool(_INTERVAL.match(text))


def figures(text: str, interval: int) -> Iterator[Figure]:
    """The figures of a line; none where it is another."""
    if "ignored errors" in text and (ignored := _IGNORED.match(text)):
        if int(ignored["count"]):
            yield Figure("ignored errors", ignored["count"], "errors", "", {})
        return
    found = _INTERVAL.match(text) if text.startswith("[") and " tps: " in text else None
    if found is None:
        return
    of: dict[str, Any] = {"interval": interval, "interval_end_s": float(found["end"])}
    yield Figure("transaction rate", found["tps"], "transactions/s", "interval", of)
    if found["qps"]:
        yield Figure("query rate", found["qps"], "queries/s", "interval", of)
    if time := _TIME.search(found["rest"]):
        share, digits = time["share"] or time["old_share"], time["time"] or time["old"]
        yield Figure(f"p{share} latency", digits, "ms", "interval", of)
    if (errors := _ERRORS.search(found["rest"])) and float(errors["errors"]):
        yield Figure("errors", errors["errors"], "errors/s", "interval", of)


def facts(text: str, line: int) -> dict[str, Any]:
    """What a line of the head asks for."""
    if text.startswith("Target transaction rate") and (found := _TARGET.match(text)):
        return {"asked_per_s": int(found["rate"]), "asked_in_line": line}
    return {}
