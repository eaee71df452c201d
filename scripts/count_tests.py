"""Print every skipped test of a JUnit report with its reason, then one line that counts all.

Ends with 1 when a test failed, or when no test is in the report (pytest itself ends with 5 then).
Standard library only: it must say something even where the set-up failed.
"""

import sys
import xml.etree.ElementTree as ElementTree
from collections import Counter
from pathlib import Path


def outcome_of(case: ElementTree.Element) -> str:
    """Return passed, failed or skipped; an error outside the test itself counts as failed."""
    outcomes = {child.tag for child in case}
    if outcomes & {"failure", "error"}:
        return "failed"
    return "skipped" if "skipped" in outcomes else "passed"


def main(path: Path) -> int:
    """Print the lines for the report at `path` and return the exit status."""
    try:
        cases = list(ElementTree.parse(path).getroot().iter("testcase"))
    except (OSError, ElementTree.ParseError) as error:
        print(f"no report of the tests: {error}")
        cases = []
    outcomes: dict[str, str] = {}
    for case in cases:
        name = f"{case.get('classname', '')}::{case.get('name', '')}"
        outcome = outcome_of(case)
        # A test whose teardown fails is in the report twice; the failure counts.
        if outcomes.get(name) != "failed":
            outcomes[name] = outcome
        for skip in case.iter("skipped"):
            print(f"skipped: {name}: {skip.get('message', 'no reason given')}")
    count = Counter(outcomes.values())
    if not outcomes:
        print("no test ran")
    print(f"{count['passed']} passed, {count['failed']} failed, {count['skipped']} skipped")
    return 0 if outcomes and not count["failed"] else 1


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1])))
