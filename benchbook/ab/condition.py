"""What a script forbids with --fail-if: a difference in time, or in counted work."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from benchbook.ab.answer import Compared
from benchbook.ab.counted import INSTRUCTIONS, Count
from benchbook.core.errors import BenchbookError

FAILED = 3  # the exit status where a condition is met
_FORM = re.compile(r"(slower|faster|different|more|fewer)(?: than (\d+(?:\.\d+)?) ?%)?")


@dataclass(frozen=True)
class Condition:
    """A difference of B from A beyond a share: in time shown by the whole interval, in
    instructions (more, fewer) also beyond what equal programs differ by."""

    word: str
    share: float

    @classmethod
    def of(cls, text: str) -> Condition:
        """BenchbookError where the text is none of the forms."""
        match = _FORM.fullmatch(text.strip())
        if not match:
            raise BenchbookError(
                f"--fail-if {text!r}: write slower, faster, different, more or fewer (of "
                "instructions), and `than 2 %` after it"
            )
        return cls(match[1], float(match[2] or 0) / 100)

    @property
    def needs_counts(self) -> bool:
        """Whether it is about instructions."""
        return self.word in ("more", "fewer")

    def is_met(self, outcome: Compared, counts: Sequence[Count] = ()) -> bool:
        """Whether the comparison shows it."""
        if self.needs_counts:
            (instructions,) = (count for count in counts if count.event == INSTRUCTIONS)
            ratio = instructions.ratio if self.word == "more" else 1 / instructions.ratio
            return instructions.differs and ratio > 1 + self.share
        slower = outcome.factor.low > 1 + self.share
        faster = outcome.factor.high < 1 / (1 + self.share)
        return {"slower": slower, "faster": faster, "different": slower or faster}[self.word]
