"""Output of which somebody made each line code of its own in Markdown: `` `cpu : usr=0.43%` ``."""

from __future__ import annotations

from benchbook.explain.line_index import has

_LEAST = 3  # lines in a row: fewer may be commands, or names in a list
_OUTPUT = 0.5  # of these lines, that have a figure next to a mark of one
_MARKS = "=:|%["


def without_inline_code(text: str) -> str:
    """The text without these marks, and without what makes a part of such a line bold."""
    if not has(text, "`"):
        return text
    lines = text.split("\n")
    run: list[tuple[int, str]] = []
    for number, line in enumerate([*lines, "."]):
        bare = _bare(line) if "`" in line else None
        if bare is not None:
            run.append((number, bare))
        elif line and not line.isspace():
            if _is_output(run):
                for place, own in run:
                    lines[place] = own
            run = []
    return "\n".join(lines)


def _is_output(run: list[tuple[int, str]]) -> bool:
    """Whether these lines in a row are several, and mostly have figures."""
    figures = sum(
        any(map(str.isdigit, line)) and any(mark in line for mark in _MARKS) for _, line in run
    )
    return len(run) >= _LEAST and figures >= _OUTPUT * len(run)


def _bare(line: str) -> str | None:
    """A line that is code alone, as it was before; None of one that has words around it."""
    parts = line.replace("``", "`").split("`")
    if len(parts) < 3 or len(parts) % 2 == 0 or not any(part.strip() for part in parts[1::2]):
        return None
    parts[::2] = [part.replace("*", "").replace("_", "") for part in parts[::2]]
    around = [parts[0].replace(">", ""), *parts[2::2]]
    return None if any(part.strip() for part in around) else "".join(parts)
