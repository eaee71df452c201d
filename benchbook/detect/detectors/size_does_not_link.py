"""size-does-not-link: static arrays beyond what the code model can address.

Decided by the words of compiler or linker; how large the arrays may be is known where the limit
was searched.
"""

from __future__ import annotations

import re

from benchbook.core.sizes import format_bytes
from benchbook.detect import Judged, Row, Seen
from benchbook.findings import Artefact, Finding, proof

LIMIT = "largest static array"
WORDS = re.compile(
    r"relocation truncated to fit|relocation .*out of range|relocation overflow"
    r"|size of (array|variable) .*too large|exceeds maximum object size",
    re.IGNORECASE,
)
CERTAIN = 1.0
ARTEFACT = Artefact(
    "size-does-not-link",
    "Build with -mcmodel=medium or -mcmodel=large, or take the arrays from the heap; then check "
    "that they fit into memory as well.",
)


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
        judged.abstained["host"] = str(unsearched[0].get("reason") or "no limit was searched")
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
    first = min(rows, key=lambda row: str(row["reason"]))
    words = _words(str(first["reason"]))
    why = ", which has a limit for the size of one object"
    if "relocation" in words.lower():
        why = (
            ". The small code model, the usual one, reaches static data within 2 GiB only, and "
            "these arrays end beyond"
        )
    points = "One point has" if len(rows) == 1 else f"{len(rows)} points have"
    return ARTEFACT.finding(
        effect="informs",
        where=sorted(row["where"] for row in rows),
        confidence=CERTAIN,
        evidence=[proof("said", str(first["reason"]), "", "compiler and linker")],
        explanation=f"{points} no figure, because the program could not be built: “{words}”{why}.",
    )


def _of_limit(rows: list[Row], every: bool) -> Finding:
    first = min(rows, key=lambda row: str(row.get("message")))
    arrays, links, fails = first["arrays"], first["links_bytes"], first["fails_bytes"]
    builds = "one build" if len(rows) == 1 else f"{len(rows)} builds"
    elsewhere = " Another build of the same source links at every size tried." if every else ""
    return ARTEFACT.finding(
        effect="informs",
        where=[],
        confidence=CERTAIN,
        evidence=[
            proof("links_bytes", links, "bytes", "compiler and linker"),
            proof("fails_bytes", fails, "bytes", "compiler and linker"),
            proof("arrays", arrays, "arrays", "definition"),
            proof("said", str(first["message"]), "", "compiler and linker"),
        ],
        explanation=f"In {builds}, {arrays} static arrays of {format_bytes(links)} each are the "
        f"largest that link ({format_bytes(arrays * links)} together); one step further, compiler "
        f"or linker says “{_words(str(first['message']))}”, because the code model reaches no "
        f"further.{elsewhere}",
    )
