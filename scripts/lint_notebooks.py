"""Fail on a notebook that stores outputs or counts: they are made, never committed."""

import json
import sys
from pathlib import Path


def stored(path: Path) -> list[str]:
    """What a notebook stores that it should not, a line for each cell."""
    try:
        cells = json.loads(path.read_text(encoding="utf-8"))["cells"]
    except (ValueError, KeyError, TypeError) as error:
        return [f"{path}: is not a notebook ({error}); write it again in JupyterLab"]
    return [
        f"{path}: cell {number} stores an output or its count; clear all outputs and save it"
        for number, cell in enumerate(cells, 1)
        if cell.get("outputs") or cell.get("execution_count") is not None
    ]


def main(folder: Path) -> int:
    """Return 0 when no notebook below the folder stores anything, else 1 with what does."""
    paths = [path for path in folder.rglob("*.ipynb") if ".ipynb_checkpoints" not in path.parts]
    found = [line for path in sorted(paths) for line in stored(path)]
    print("\n".join(found), file=sys.stderr, end="\n" if found else "")
    return 1 if found else 0


if __name__ == "__main__":
    raise SystemExit(main(Path(sys.argv[1] if len(sys.argv) > 1 else "notebooks")))
