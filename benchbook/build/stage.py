"""The build stage: one variant -> a binary under its hash and variant.json, whatever happens.

A compile that fails or a compiler that is missing is a result with a reason, not an error.
"""

from __future__ import annotations

import hashlib
import os
import tempfile
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

from benchbook.build import disassembly, effective_flags, objects
from benchbook.build.objects import BuildFailedError, Compiler
from benchbook.core.files import write_json
from benchbook.core.processes import output_of
from benchbook.core.sizes import parse_bytes
from benchbook.define.catalogue import (
    definition,
    definition_file,
    kernel_folder,
    source_files,
)
from benchbook.define.points import host_sizes
from benchbook.host import link_libraries, tools
from benchbook.host.compilers import library_of, program_of
from benchbook.host.topology import read_topology
from benchbook.peers import tool

VERSION = 1
PADDING_BYTES = 1504  # of the relinked twin: moves code and data, changes nothing else


def build_variants(root: Path, outputs: list[Path]) -> list[dict[str, Any]]:
    """`build_variant` for each of build/<owner>/<variant>/variant.json, as many at once as this
    process has CPUs."""
    with ThreadPoolExecutor(len(os.sched_getaffinity(0))) as pool:
        return list(
            pool.map(
                lambda output: build_variant(root, *owner_and_variant(output), output), outputs
            )
        )


def owner_and_variant(output: Path) -> tuple[str, str]:
    """Out of `build/<owner>/<variant>/variant.json`; a control's owner has two parts."""
    _, *owner, variant, _ = output.parts
    return "/".join(owner), variant


def build_variant(root: Path, name: str, variant: str, output: Path) -> dict[str, Any]:
    """Compile one variant, or find a peer; write `output` (variant.json); return what it holds."""
    record: dict[str, Any]
    content = definition(root, name)
    spec = content["variants"][variant]
    if "peer" in spec:
        about = {"version": VERSION, "experiment": name, "variant": variant}
        record = {**about, "compiler": None, "flags": [], **tool.find(spec["peer"])}
        write_json(output, record)
        return record
    flags = [*content.get("flags", []), *spec.get("flags", []), *_sized(spec.get("sizes", {}))]
    record = {
        "version": VERSION,
        "experiment": name,
        "variant": variant,
        "compiler": spec["compiler"],
        "flags": flags,
        "state": "ok",
        "reason": "",
    }
    compiler = find_compiler(spec["compiler"])
    if compiler is None:
        record |= {"state": "cannot_run", "reason": not_there(spec["compiler"])}
    elif not compiler.version:
        why = f"{compiler.path} does not answer --version; install {spec['compiler']} again"
        record |= {"state": "failed", "reason": why}
    else:
        record |= {"compiler_version": compiler.version, "target": compiler.target}
        if wrapper := spec.get("wrapper"):
            place = (definition_file(root, name).parent / wrapper[0]).absolute()
            compiler = replace(compiler, wrapper=(str(place), *wrapper[1:]))
        needed = link_libraries.find(content, compiler.command)
        try:
            if needed.missing:
                record |= {"state": "cannot_run", "reason": needed.missing}
            else:
                record |= _compile(root, name, content, flags, compiler, needed, output.parent)
        except (BuildFailedError, link_libraries.StubsFailedError) as failure:
            record |= {"state": "failed", "reason": str(failure)}
    write_json(output, record)
    return record


def _sized(macros: dict[str, str]) -> list[str]:
    """-D flags with sizes of this host; none for a size that is unknown here."""
    sizes = host_sizes(read_topology()) if macros else {}
    sized = {name: parse_bytes(text, sizes) for name, text in macros.items()}
    return [f"-D{name}={size}" for name, size in sized.items() if size is not None]


def not_there(compiler: str) -> str:
    """Why a variant of this compiler cannot be built here."""
    remedy = tools.remedy(tools.package_of(compiler))
    return f"compiler {compiler!r} is not on PATH; {remedy}"


def find_compiler(name: str) -> Compiler | None:
    """The compiler of that name on PATH with its version, or None."""
    path = program_of(name)
    if path is None:
        return None
    changed_ns = Path(path).stat().st_mtime_ns
    version, target = _answers(path, changed_ns)
    return Compiler(name, path, "; ".join(filter(None, [version, library_of(name, path)])), target)


@cache
def _answers(path: str, changed_ns: int) -> tuple[str, str]:
    """The first line of a compiler's version, and its target; asked once, since one that hangs
    takes its time."""
    del changed_ns
    version = (output_of([path, "--version"]).splitlines() or [""])[0]
    return version, output_of([path, "-dumpmachine"]).strip() if version else ""


def _compile(
    root: Path,
    name: str,
    content: dict[str, Any],
    flags: list[str],
    compiler: Compiler,
    needed: link_libraries.Needs,
    folder: Path,
) -> dict[str, Any]:
    folder.mkdir(parents=True, exist_ok=True)
    sources = kernel_folder(root, name)
    common = root / "kernels" / "common"
    with tempfile.TemporaryDirectory(dir=folder) as scratch:
        work = Path(scratch)
        stubs = [
            stub
            for procedure in content.get("procedures", [])
            for stub in link_libraries.stubs(sources / procedure, work)
        ]
        arguments = [*flags, *needed.compile, *([f"-I{work}"] if stubs else [])]
        entering = source_files(root, name)
        beside = link_libraries.identity(content, compiler.path)
        own = [
            # Stubs are made anew in each scratch folder.
            objects.object_file(compiler, sources / source, arguments, common, work)
            if stubs
            else objects.shared_object(
                compiler, sources / source, arguments, common, work, entering, beside
            )
            for source in content["sources"]
        ]
        made = [
            objects.object_file(compiler, stub, [*arguments, link_libraries.UNWARNED], common, work)
            for stub in stubs
        ]
        library = objects.harness(compiler, common, flags, work)
        source = common / "padding.S"
        padded = [f"-DBENCH_PADDING_BYTES={PADDING_BYTES}"]
        padding = objects.shared_object(compiler, source, padded, common, work, [source])
        found = disassembly.timed_functions(own)
        # Optimisation flags matter to the linker too (-fopenmp, -mcmodel, -flto).
        every = [*own, *made, library]
        plain = objects.link(compiler, every, flags, work / "plain", needed.link)
        relinked = objects.link(compiler, [padding, *every], flags, work / "relinked", needed.link)
        record = {
            "binary": _keep(plain, folder),
            "relinked": _keep(relinked, folder),
            **effective_flags.look(
                effective_flags.Line(
                    compiler.command, sources / content["sources"][0], [f"-I{common}"]
                ),
                [*objects.ALWAYS, *flags],
            ),
            "isa": disassembly.isa(found),
            "timed_functions": {
                function: body.record() for function, body in sorted(found.items())
            },
        }
    wrong = _calls_missing(content.get("calls", {}), record["timed_functions"])
    return record | ({"state": "failed", "reason": wrong} if wrong else {})


def _calls_missing(declared: dict[str, list[str]], code: dict[str, Any]) -> str:
    for function, calls in declared.items():
        seen = code.get(function, {"library_calls": []})["library_calls"]
        missing = sorted(set(calls) - set(seen))
        if missing:
            instead = ", ".join(seen) or "no library function"
            return f"{function} must call {missing[0]} but the compiler made it call {instead}"
    return ""


def _keep(binary: Path, folder: Path) -> dict[str, str]:
    """Put the binary beside variant.json under its hash."""
    digest = hashlib.sha256(binary.read_bytes()).hexdigest()
    kept = folder / digest[:16]
    if not kept.exists():
        binary.replace(kept)
    return {"file": kept.name, "sha256": digest}
