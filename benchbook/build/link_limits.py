"""How large a kernel's static arrays may be before compiler or linker refuse: for each variant the
largest size that links, the first that does not, and the words that were said there.

Nothing is started, so no array is ever filled.
"""

from __future__ import annotations

import math
import os
import tempfile
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from benchbook.build import objects
from benchbook.build import stage as build_stage
from benchbook.core.files import write_json
from benchbook.core.sizes import format_bytes
from benchbook.define.catalogue import definition, kernel_folder, source_files
from benchbook.host import link_libraries

VERSION = 1
STEP_BYTES = 2**20  # sizes tried are whole multiples of it
MOST_BYTES = 2**40
SMALL_MODEL_BYTES = 2**31  # what it reaches: all arrays but the last must begin below


def find_limits(root: Path, experiment: str, output: Path) -> dict[str, Any]:
    """Search the limits that an experiment declares; write `output` (limits.json); return it.

    One item per variant, sizes in bytes of each array. outcome: limited (links at links_bytes and
    no longer at fails_bytes), every_size (links at most_bytes), no_size (fails at the smallest),
    cannot_run (no such compiler). Where it fails: the compiler's exit status (None for a
    time-out) and the telling line of what it or the linker said.
    """
    content = definition(root, experiment)
    wanted = content["limits"]
    output.parent.mkdir(parents=True, exist_ok=True)
    items: list[dict[str, Any]] = []
    likely = SMALL_MODEL_BYTES // max(wanted["arrays"] - 1, 1) // STEP_BYTES

    def search(variant: str) -> dict[str, Any]:
        # Limits of one code model are alike, whatever the compiler: a few attempts show it.
        before = [item[key] for item in items for key in ("links_bytes", "fails_bytes")]
        hints = [size // STEP_BYTES for size in before if size]
        hints += [likely, *(likely - 2**k for k in range(4))]
        item = _limit(root, experiment, content, variant, output.parent, hints)
        items.append(item)
        return item

    with ThreadPoolExecutor(len(os.sched_getaffinity(0))) as pool:
        ordered = list(pool.map(search, wanted["variants"]))
    record = {
        "version": VERSION,
        "experiment": experiment,
        "define": wanted["define"],
        "arrays": wanted["arrays"],
        "step_bytes": STEP_BYTES,
        "most_bytes": MOST_BYTES,
        "items": ordered,
    }
    write_json(output, record)
    return record


def _limit(
    root: Path,
    experiment: str,
    content: dict[str, Any],
    variant: str,
    folder: Path,
    hints: list[int],
) -> dict[str, Any]:
    spec = content["variants"][variant]
    flags = [*content.get("flags", []), *spec.get("flags", [])]
    item = {
        "variant": variant,
        "compiler": spec["compiler"],
        "compiler_version": None,
        "flags": flags,
        "outcome": "cannot_run",
        "reason": build_stage.not_there(spec["compiler"]),
        "links_bytes": None,
        "fails_bytes": None,
        "status": None,
        "message": "",
    }
    compiler = build_stage.find_compiler(spec["compiler"])
    if compiler is None:
        return item
    with tempfile.TemporaryDirectory(dir=folder) as scratch:
        sources = [kernel_folder(root, experiment) / source for source in content["sources"]]
        define = content["limits"]["define"]
        shared = [source_files(root, experiment), link_libraries.identity(content, compiler.path)]
        attempt = Attempt(compiler, flags, sources, root / "kernels", Path(scratch), define, shared)
        largest = _search(attempt, hints)
    return item | {"compiler_version": compiler.version} | largest


@dataclass
class Attempt:
    """One variant, built as the build stage does it, at one size after the other."""

    compiler: objects.Compiler
    flags: list[str]
    sources: list[Path]
    kernels: Path
    work: Path
    define: str
    shared: list[Any]  # what the objects that are the same at every size depend on
    fixed: list[Path] | None = None  # objects that are the same at every size
    compiles: bool = False  # some size at least: else the flags are wrong, not the size

    def refused(self, steps: int) -> tuple[int | None, str] | None:
        """Exit status and words against arrays of so many steps; None where the program links."""
        common = self.kernels / "common"
        sized = [*self.flags, f"-D{self.define}={steps * STEP_BYTES}"]
        changing = self._changing()
        try:
            if self.fixed is None:
                others = [source for source in self.sources if source not in changing]
                self.fixed = [
                    *(
                        objects.shared_object(
                            self.compiler, source, self.flags, common, self.work, *self.shared
                        )
                        for source in others
                    ),
                    objects.harness(self.compiler, common, self.flags, self.work),
                ]
            changed = [
                objects.object_file(self.compiler, source, sized, common, self.work)
                for source in changing
            ]
            files = [*changed, *self.fixed]
            self.compiles = True
            objects.link(self.compiler, files, self.flags, self.work / "program")
        except objects.BuildFailedError as failure:
            # Without the places of this checkout and of the scratch folder.
            words = failure.words.replace(f"{self.work}/", "")
            return failure.status, words.replace(f"{self.kernels}/", "")
        return None

    def _changing(self) -> list[Path]:
        """The sources that use the macro; all of them where a header does."""
        headers = self.sources[0].parent.glob("*.h")
        if any(self.define in header.read_text() for header in headers):
            return self.sources
        return [source for source in self.sources if self.define in source.read_text()]


def _search(attempt: Attempt, hints: list[int]) -> dict[str, Any]:
    """The limit to a step, in about fifteen attempts; `hints`, in steps, are tried first."""
    low, high = 1, MOST_BYTES // STEP_BYTES
    if (refused := attempt.refused(low)) is not None:
        if not attempt.compiles:
            return {"outcome": "cannot_run", "reason": refused[1], "message": refused[1]}
        reason = f"links at no size tried, not even {format_bytes(STEP_BYTES)} for each array"
        return {"outcome": "no_size", **_failing(reason, low, refused)}
    if (refused := attempt.refused(high)) is None:
        reason = f"links at every size tried, up to {format_bytes(MOST_BYTES)} for each array"
        return {"outcome": "every_size", "links_bytes": MOST_BYTES, "reason": reason}
    while high - low > 1:
        # The geometric mean finds the power of two fast, the arithmetic one the step.
        middle = math.isqrt(low * high) if high > 4 * low else (low + high) // 2
        middle = next((hint for hint in hints if low < hint < high), middle)
        if (now := attempt.refused(middle)) is None:
            low = middle
        else:
            high, refused = middle, now
    links = low * STEP_BYTES
    reason = f"links up to {format_bytes(links)} for each array"
    return {"outcome": "limited", "links_bytes": links, **_failing(reason, high, refused)}


def _failing(reason: str, steps: int, refused: tuple[int | None, str]) -> dict[str, Any]:
    status, words = refused
    size = steps * STEP_BYTES
    return {
        "fails_bytes": size,
        "status": status,
        "message": words,
        "reason": f"{reason}; at {format_bytes(size)}: {words}",
    }
