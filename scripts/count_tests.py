"""Print every skipped test of JUnit reports with its reason, then one line that counts all.

A test that one report skipped and another ran counts as run. Ends with 1 when a test failed, or
when no test is in any report (pytest itself ends with 5 then).
Standard library only: it must say something even where the set-up failed.
"""

import sys
import xml.etree.ElementTree as ElementTree
from collections import Counter
from pathlib import Path

GRAVEST = ["failed", "passed", "skipped"]


def outcome_of(case: ElementTree.Element) -> str:
    """Return passed, failed or skipped; an error outside the test itself counts as failed."""
    outcomes = {child.tag for child in case}
    if outcomes & {"failure", "error"}:
        return "failed"
    return "skipped" if "skipped" in outcomes else "passed"


def main(paths: list[Path]) -> int:
    """Print the lines for the reports at `paths` and return the exit status."""
    outcomes: dict[str, str] = {}
    reasons: dict[str, str] = {}
    for path in paths:
        try:
            cases = list(ElementTree.parse(path).getroot().iter("testcase"))
        except (OSError, ElementTree.ParseError) as error:
            print(f"no report of the tests: {error}")
            continue
        for case in cases:
            name = f"{case.get('classname', '')}::{case.get('name', '')}"
            # A test whose teardown fails is in the report twice; the failure counts.
            outcomes[name] = min(outcomes.get(name, "skipped"), outcome_of(case), key=GRAVEST.index)
            for skip in case.iter("skipped"):
                reasons[name] = skip.get("message", "no reason given")
    for name, outcome in outcomes.items():
        if outcome == "skipped":
            print(f"skipped: {name}: {reasons[name]}")
    count = Counter(outcomes.values())
    if not outcomes:
        print("no test ran")
    print(f"{count['passed']} passed, {count['failed']} failed, {count['skipped']} skipped")
    return 0 if outcomes and not count["failed"] else 1


if __name__ == "__main__":
    sys.exit(main([Path(word) for word in sys.argv[1:]]))
