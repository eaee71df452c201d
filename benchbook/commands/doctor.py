"""The command `benchbook doctor`: the door, this host, what is there, and how to get the rest.

A look adds a kind of line: a function of LOOKS that yields Lines.
"""

from __future__ import annotations

import json
import platform
import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from benchbook.commands.options import ROOT, AsJson
from benchbook.define import catalogue
from benchbook.host import capabilities, quiet, tools
from benchbook.host import facts as host_facts
from benchbook.host.compilers import program_of
from benchbook.peers import tool

VERSION = 1
HEADINGS = {
    "compiler": "compilers of the variants",
    "tool": "tools",
    "peer": "other people's programs, measured for comparison",
    "ability": "measuring facilities of this machine, as tried just now",
}


@dataclass(frozen=True)
class Line:
    """One thing that was looked for. state: ok, absent, denied, or cannot_run (there, of no use).

    `remedy` is a command that can be pasted into a shell, or empty; `detail` is what was seen of an
    ability: `said`, and facts by name.
    """

    kind: str
    name: str
    state: str
    version: str = ""
    path: str = ""
    purpose: str = ""
    reason: str = ""
    remedy: str = ""
    detail: dict[str, Any] = field(default_factory=dict)


def facts(root: Path) -> dict[str, Any]:
    """Door, host, lines and what disturbs; nothing is set, and nothing is timed."""
    host = host_facts.facts()
    return {
        "version": VERSION,
        "door": host_facts.door(),
        "nix_revision": host["nix_revision"] or None,
        "host": host_facts.host_id(host),
        "items": [asdict(line) for look in LOOKS for line in look(root)],
        "not_quiet": [asdict(warning) for warning in quiet.check()],
        "facts": host,
    }


def command(as_json: AsJson = False) -> None:
    """The door, tools and versions, and how to get what is missing here."""
    seen = facts(ROOT)
    print(json.dumps(seen, indent=1) if as_json else _text(seen))


def compilers(root: Path) -> Iterator[Line]:
    """Every compiler that a variant names."""
    named = {spec["compiler"]: None for spec in _variants(root) if "compiler" in spec}
    yield from _programs(
        "compiler", [(compiler, tools.package_of(compiler), "") for compiler in named]
    )


def programs(root: Path) -> Iterator[Line]:
    """Python, and what tools.csv names beside the compilers."""
    path = sys.executable
    yield Line("tool", "python", "ok", platform.python_version(), path, "runs Benchbook")
    named = {spec.get("compiler") for spec in _variants(root)}
    rows = [
        tool
        for tool in tools.table()
        if "evidence" not in tool.wanted_by and not named.intersection(tool.programs)
    ]
    yield from _programs(
        "tool", [(tool.programs[0], tool.package, _purpose(tool)) for tool in rows]
    )


def others(root: Path) -> Iterator[Line]:
    """Programs of other people that are measured beside ours."""
    specs = {spec["peer"]["tool"]: spec["peer"] for spec in _variants(root) if "peer" in spec}
    for name, spec in specs.items():
        program = tool.find(spec)
        path = program.get("binary", {}).get("file", "")
        state = program["state"] if path else "absent"
        version = program["peer"]["version"]
        remedy = "" if path else tools.command(spec["package"])
        yield Line("peer", name, state, version, path, reason=program["reason"], remedy=remedy)


def abilities(root: Path) -> Iterator[Line]:
    """What can be observed here: tried anew, whatever the evidence stage has kept."""
    for ability in capabilities.all_capabilities(root, fresh=True):
        yield Line("ability", **asdict(ability))


LOOKS = (compilers, programs, others, abilities)


def _variants(root: Path) -> list[dict[str, Any]]:
    names = [*catalogue.experiments(root), *catalogue.played(root)]
    names += [catalogue.PROBE] if names else []
    return [
        spec for name in names for spec in catalogue.definition(root, name)["variants"].values()
    ]


def _purpose(tool: tools.Tool) -> str:
    return tool.purpose + (" (tests only)" if tool.wanted_by == ("test",) else "")


def _programs(kind: str, wanted: list[tuple[str, str, str]]) -> Iterator[Line]:
    """Lines of (program, package, purpose), all asked at once: some take half a second."""
    with ThreadPoolExecutor() as pool:
        yield from pool.map(lambda program: _program(kind, *program), wanted)


def _program(kind: str, name: str, package: str, purpose: str) -> Line:
    path = program_of(name)
    if path is None:
        reason = f"{name} is not on PATH; {tools.remedy(package)}"
        remedy = tools.command(package)
        return Line(kind, name, "absent", purpose=purpose, reason=reason, remedy=remedy)
    return Line(kind, name, "ok", tools.version(path), path, purpose)


def _text(content: dict[str, Any]) -> str:
    machine = content["facts"]
    revision = content["nix_revision"]
    lines = [
        f"door   {content['door']}" + (f", nixpkgs at {revision}" if revision else ""),
        f"host   {content['host']}",
        f"       {machine['cpu_model'] or 'unknown CPU'}; {machine['os'] or 'unknown system'}, "
        f"kernel {machine['kernel_release']}; "
        f"{machine['virtualisation'] or 'virtualisation unknown'}",
    ]
    for kind in dict.fromkeys(line["kind"] for line in content["items"]):
        lines += ["", HEADINGS[kind]]
        own = [line for line in content["items"] if line["kind"] == kind]
        wide = max(len(line["name"]) for line in own)
        for line in own:
            words = line["reason"] or line["detail"].get("said") or line["version"]
            words = words or f"of unknown version, {line['path']}"
            why = f"  [{line['purpose']}]" if line["purpose"] else ""
            sign = "+" if line["state"] == "ok" else "-"
            lines.append(f"  {sign} {line['name']:{wide}}  {words}{why}")
            if kind == "ability" and line["remedy"]:  # of a program its reason says it
                lines.append(f"    {'':{wide}}  $ {line['remedy']}")
    if content["not_quiet"]:
        lines += ["", "not quiet at this moment"]
        lines += [f"  {warning['seen']}; {warning['cure']}" for warning in content["not_quiet"]]
    if machine["unknown"]:
        names = ", ".join(name.replace("_", " ") for name in machine["unknown"])
        lines += ["", f"unknown on this machine: {names} (why: `benchbook doctor --json`)"]
    abilities = [line["state"] for line in content["items"] if line["kind"] == "ability"]
    programs = [line["state"] for line in content["items"] if line["kind"] != "ability"]
    counted = [
        f"{sum(state != 'ok' for state in states) or 'none'} of {len(states)} {word}"
        for states, word in ((programs, "programs"), (abilities, "abilities"))
    ]
    lines += ["", f"{' and '.join(counted)} cannot be used here (marked -)"]
    return "\n".join(lines)
