"""ro-crate-metadata.json of an archive, by the library rocrate."""

from __future__ import annotations

import json
import mimetypes
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from benchbook.core.errors import BenchbookError
from benchbook.core.files import read_json
from benchbook.crate import contents
from benchbook.crate.contents import PROFILE, PROFILE_VERSION, Index
from benchbook.records import journal

IDENTIFIERS = "https://w3id.org/"
PROFILES = (
    (f"{IDENTIFIERS}ro/wfrun/process/0.5", "Process Run Crate", "0.5"),
    (f"{IDENTIFIERS}ro/wfrun/workflow/{PROFILE_VERSION}", PROFILE, PROFILE_VERSION),
    (f"{IDENTIFIERS}workflowhub/workflow-ro-crate/1.0", "Workflow RO-Crate", "1.0"),
)
CRATE_VERSION = "1.1"  # of RO-Crate, the one that the profile extends
# A term that RO-Crate 1.1 lacks; named here so that no reader has to fetch another context.
TERMS = {"sha256": f"{IDENTIFIERS}ro/terms/workflow-run#sha256"}
LICENSE = "https://spdx.org/licenses/Apache-2.0"
WORKFLOW = "Snakefile"
# What a file is, by the folder or the name that its path begins with or ends with.
KINDS = (
    ("data/runs/", "raw samples of a run"),
    ("results/", "estimates, findings and verdicts"),
    ("reports/", "page or figure"),
    ("build/", "a variant: compiler, flags and the hash of its binary"),
    ("kernels/", "source and definition of what was measured"),
    ("data/published/", "published figures and claims"),
    ("config/", "configuration"),
    ("requirements", "environment lock"),
    ("flake.", "environment lock"),
)
MEDIA = {".md": "text/markdown", ".jsonl": "application/jsonl", ".yaml": "application/yaml"}
OF_HOST = ("cpu_model", "architecture", "cores", "memory_total_bytes", "kernel_release")


def metadata(top: Path, index: Index) -> str:
    """The text of ro-crate-metadata.json for the files below `top`."""
    try:
        from rocrate.model.contextentity import ContextEntity
        from rocrate.rocrate import ROCrate
    except ImportError:
        raise BenchbookError(
            "rocrate, which describes archives, is not installed; run "
            "`scripts/in-env --with crate benchbook export …`"
        ) from None
    crate = ROCrate(version=CRATE_VERSION)
    crate.metadata.extra_terms.update(TERMS)

    def add(identifier: str, kind: str, **properties: Any) -> Any:
        return crate.add(ContextEntity(crate, identifier, properties={"@type": kind} | properties))

    begun, ended = _span(top, index)
    names = [str(path.relative_to(top)) for path in sorted(top.rglob("*")) if path.is_file()]
    files = {
        name: crate.add_file(top / name, name, properties=_about(top / name, name))
        for name in names
        if name != WORKFLOW
    }
    about = _about(top / WORKFLOW, WORKFLOW) | {"name": "Benchbook"}
    workflow = crate.add_workflow(
        top / WORKFLOW,
        WORKFLOW,
        main=True,
        lang="snakemake",
        properties=about | {"version": index.commit or "unknown"},
    )
    host = add("#host", "PropertyValue", name="host", value=_host(top, index))
    workflow["hasPart"] = [add(**variant) for variant in _variants(top, index)]
    outputs = [name for name in names if name.startswith(f"{index.results}/")]
    outputs = [name for name in outputs if name.endswith((contents.VERDICTS, contents.ANALYSIS))]
    workflow["input"] = _parameter(crate, files[_configuration(index, files)], "input")
    workflow["output"] = [_parameter(crate, files[name], "output") for name in outputs]
    made = [name for name in names if name.startswith(("results/", "data/runs/", "reports/"))]
    action = crate.add_action(
        workflow,
        identifier="#measurement",
        object=[files[_configuration(index, files)], host],
        result=[files[name] for name in made],
        properties={
            "name": f"benchmarks measured on {index.host}, preset {index.preset}",
            "description": f"`snakemake --config preset={index.preset}`",
            "startTime": begun.isoformat(),
            "endTime": ended.isoformat(),
        },
    )
    profiles = [
        add(name, "CreativeWork", name=label, version=version) for name, label, version in PROFILES
    ]
    files[contents.README]["about"] = root = crate.root_dataset
    root["conformsTo"] = profiles
    root["mentions"] = action
    root["publisher"] = add("#authors", "Organization", name="The Benchbook authors")
    root["name"] = f"Benchmarks of {', '.join(index.papers or index.experiments)}"
    root["description"] = (
        f"Measured by Benchbook on {index.host}, preset {index.preset}: raw samples, estimates, "
        "findings, verdicts and pages. `benchbook verify` recomputes them."
    )
    root["datePublished"] = ended.date().isoformat()
    root["license"] = add(LICENSE, "CreativeWork", name="Apache License 2.0")
    content = crate.metadata.generate()
    return json.dumps(content, indent=1, ensure_ascii=False, allow_nan=False) + "\n"


def _about(path: Path, name: str) -> dict[str, Any]:
    kind = next((words for start, words in KINDS if name.startswith(start)), "file of the checkout")
    media = MEDIA.get(path.suffix) or mimetypes.guess_type(name, strict=True)[0]
    content = path.read_bytes()
    return {
        "name": name,
        "description": kind,
        "contentSize": str(len(content)),
        "encodingFormat": media or "text/plain",
        "sha256": contents.sha256(content),
    }


def _configuration(index: Index, files: dict[str, Any]) -> str:
    own = f"config/{index.preset}.yaml"
    return own if own in files else "config/default.yaml"


def _parameter(crate: Any, file: Any, side: str) -> Any:
    """The formal parameter of the workflow that this file is an example of."""
    parameter = crate.add_formal_parameter(
        name=file["name"], additionalType="File", identifier=f"#{side}/{file.id}"
    )
    parameter["workExample"] = file
    file["exampleOfWork"] = parameter
    return parameter


def _host(top: Path, index: Index) -> str:
    plan = read_json(top / index.runs[0].folder / journal.PLAN)
    values = {key: plan["host_facts"].get(key) for key in OF_HOST}
    return ", ".join([index.host, *(f"{key}: {value}" for key, value in values.items() if value)])


def _variants(top: Path, index: Index) -> Iterator[dict[str, Any]]:
    """Every variant that was measured, with the hash of its binary."""
    seen = set()
    for experiment in index.experiments:
        pointer = read_json(top / index.results / experiment / contents.CURRENT)
        for name, folder in pointer["variants"].items():
            built = read_json(top / folder / "variant.json")
            if folder in seen:
                continue
            seen.add(folder)
            digest = (built.get("binary") or {}).get("sha256")
            yield {
                "identifier": f"#variant/{folder.removeprefix('build/')}",
                "kind": "SoftwareApplication",
                "name": f"{experiment}: {name}",
                "softwareVersion": built.get("compiler_version") or "not compiled here",
                "description": " ".join(built.get("flags") or []) or "no flags",
            } | ({"sha256": digest} if digest else {})


def _span(top: Path, index: Index) -> tuple[datetime, datetime]:
    """When the first run began and the last one ended, in UTC."""
    times = []
    for run in index.runs:
        begun = datetime.strptime(run.run[:16], "%Y%m%dT%H%M%SZ").replace(tzinfo=UTC)
        manifest = read_json(top / run.folder / journal.MANIFEST)
        took = manifest.get("measuring_s", 0) + manifest.get("probing_s", 0)
        times += [begun, begun + timedelta(seconds=round(took))]
    return min(times), max(times)
