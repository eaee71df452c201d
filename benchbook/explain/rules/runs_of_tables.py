"""wide-spread: tables whose rows are runs of one setting, by a column that counts them."""

from __future__ import annotations

from collections.abc import Iterator

from benchbook.explain.lazy_regex import late
from benchbook.explain.model import Report
from benchbook.explain.rules import rule
from benchbook.explain.rules.common.findings import finding
from benchbook.findings import Finding

LEAST_RUNS, APART = 3, 1.25  # largest ÷ smallest
_COUNTS = late(r"(?i)^(?:run|iteration|trial|attempt|repetition|test)(?: ?(?:#|no\.?|number))?$")


@rule
def runs_of_table(report: Report) -> Iterator[Finding]:
    """A table that counts its runs from 1 on, and whose figures are far apart.

    Decided by the head of the column that counts, and by no other words in the rows.
    """
    if report.tool != "table without units":
        return
    columns = {name: list(several) for (name, _, _), several in report.groups.items()}
    counted = next((name for name in columns if _COUNTS.match(name)), None)
    if counted is None or any(own.of.get("label") for own in report.results):
        return
    numbers = [own.value for own in columns.pop(counted)]
    if len(numbers) < LEAST_RUNS or numbers != list(range(1, len(numbers) + 1)):
        return
    for name, own in columns.items():
        if len(own) == len(numbers) and all(each.is_positive for each in own):
            least, most = (pick(own, key=lambda each: each.value) for pick in (min, max))
            if most.value >= APART * least.value:
                words = {"least": least, "most": most, "name": name, "first": 1}
                words |= {"last": len(numbers), "times": most.value / least.value}
                yield finding("runs-of-table", words)
                return
