"""size-does-not-link: static arrays beyond what the code model can address.

Decided by the words of compiler or linker; how large the arrays may be is known where the limit
was searched.
"""

from __future__ import annotations

import re

from benchbook.detect import Judged, Row, Seen, artefact
from benchbook.findings import Finding

LIMIT = "largest static array"
WORDS = re.compile(
    r"relocation truncated to fit|relocation .*out of range|relocation overflow"
    r"|size of (array|variable) .*too large|exceeds maximum object size",
    re.IGNORECASE,
)
ARTEFACT = artefact("size-does-not-link")


def detect(seen: Seen) -> Judged:
    """One finding for all points that were not built for it, and one for each limit that was found
    in a search; abstains where a search could not be made."""
    judged = Judged()
    lost = [row for row in seen.missing if WORDS.search(str(row.get("reason") or ""))]
    limits = [row for row in seen.evidence if row.get("name") == LIMIT]
    if lost:
        judged.findings.append(_of_points(lost))
    by_size: dict[tuple[int, int], list[Row]] = {}
    for row in limits:
        if row.get("outcome") == "limited" and WORDS.search(str(row.get("message") or "")):
            by_size.setdefault((row["links_bytes"], row["fails_bytes"]), []).append(row)
    every = any(row.get("outcome") == "every_size" for row in limits)
    judged.findings += [_of_limit(rows, every) for _, rows in sorted(by_size.items())]
    unsearched = [row for row in limits if row.get("outcome") == "cannot_run"]
    if unsearched and len(unsearched) == len(limits):
        judged.abstained["host"] = str(
            unsearched[0].get("reason") or ARTEFACT.cannot_tell("not-searched")
        )
    searched = ["host"] if len(unsearched) < len(limits) else []
    built = [row["where"] for row in seen.rows() if _has_static_data(row)]
    return judged.rest_is_clean([*searched, *built])


def _has_static_data(row: Row) -> bool:
    sections = row.get("data_sections")
    return isinstance(sections, list) and len(sections) > 0


def _words(text: str) -> str:
    """The telling part of what was said, without the places of files."""
    match = WORDS.search(text)
    return match.group(0) if match else text


def _of_points(rows: list[Row]) -> Finding:
    message = min(str(row["reason"]) for row in rows)
    telling = _words(message)
    by_code_model = "relocation" in telling.lower()
    words = {"words": telling, "by_code_model": by_code_model, "message": message}
    return ARTEFACT.finding(rows, words, "not-built")


def _of_limit(rows: list[Row], every: bool) -> Finding:
    first = min(rows, key=lambda row: str(row.get("message")))
    words = {
        **{name: first[name] for name in ("arrays", "links_bytes", "fails_bytes")},
        "builds": "one build" if len(rows) == 1 else f"{len(rows)} builds",
        "together": first["arrays"] * first["links_bytes"],
        "words": _words(str(first["message"])),
        "message": str(first["message"]),
        "every": every,
    }
    return ARTEFACT.finding([], words, "limit")
