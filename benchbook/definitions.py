"""What is to be built and measured: folders of kernels/ and data/published/, found by wildcard.

Standard library, yaml and jsonschema only: the Snakefile imports this.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from benchbook.errors import BenchbookError
from benchbook.settings import load

PROBE = "probe"
CONTROLS = "controls/"


def experiments(root: Path) -> list[str]:
    """Names of all experiments: folders of kernels/ with an experiment.yaml."""
    return sorted(path.parent.name for path in (root / "kernels").glob("*/experiment.yaml"))


def controls(root: Path) -> list[str]:
    """Names of all controls, as `controls/<artefact>`."""
    found = (root / "kernels" / "controls").glob("*/control.yaml")
    return sorted(CONTROLS + path.parent.name for path in found)


def papers(root: Path) -> list[str]:
    """Names of all papers: folders of data/published/ with a paper.yaml."""
    return sorted(path.parent.name for path in (root / "data/published").glob("*/paper.yaml"))


def definition_file(root: Path, name: str) -> Path:
    """The YAML file that defines an experiment, a control (`controls/…`) or the probe."""
    folder = root / "kernels" / name
    if name == PROBE:
        return folder / "probe.yaml"
    return folder / ("control.yaml" if name.startswith(CONTROLS) else "experiment.yaml")


def definition(root: Path, name: str) -> dict[str, Any]:
    """The checked definition. A control comes back as the experiment that it stands for."""
    path = definition_file(root, name)
    if not path.exists():
        raise BenchbookError(
            f"experiment {name!r} is not there ({path.relative_to(root)} is missing); "
            f"known: {', '.join(experiments(root) + controls(root))}"
        )
    if name.startswith(CONTROLS):
        return _as_experiment(root, path, load(path, "control"))
    content = load(path, "probe" if name == PROBE else "experiment")
    if content["base"] not in content["variants"]:
        known = ", ".join(content["variants"])
        raise BenchbookError(
            f"{path}: key 'base' is {content['base']!r}, which is no variant; allowed: {known}"
        )
    return content


def _as_experiment(root: Path, path: Path, control: dict[str, Any]) -> dict[str, Any]:
    if control["kernel"] not in experiments(root):
        known = ", ".join(experiments(root))
        raise BenchbookError(
            f"{path}: key 'kernel' is {control['kernel']!r}, which is no experiment; known: {known}"
        )
    host = load(definition_file(root, control["kernel"]), "experiment")
    points = [{"variant": "control", **cross} for cross in control["provoked"] + control["nulls"]]
    return {
        **host,
        "question": control["text"],
        "base": "control",
        "variants": {"control": control["variant"]},
        "twins": [],
        "points": {"tiny": points},
    }


def paper(root: Path, name: str) -> dict[str, Any]:
    """The checked paper.yaml of one paper."""
    path = root / "data/published" / name / "paper.yaml"
    if not path.exists():
        known = ", ".join(papers(root))
        raise BenchbookError(f"paper {name!r} is not in data/published; known: {known}")
    return load(path, "paper")


def kernel_folder(root: Path, name: str) -> Path:
    """Where the C sources of an experiment, control or the probe lie."""
    if name.startswith(CONTROLS):
        return root / "kernels" / load(definition_file(root, name), "control")["kernel"]
    return root / "kernels" / name


def source_files(root: Path, name: str) -> list[Path]:
    """Every C file that enters the binaries: the kernel's own and the common ones."""
    folders = (kernel_folder(root, name), root / "kernels" / "common")
    return sorted(path for folder in folders for path in folder.glob("*.[chS]"))


def papers_of(root: Path, experiment: str) -> list[str]:
    """Papers with a figure that names this experiment."""
    return [
        name
        for name in papers(root)
        if any(figure["experiment"] == experiment for figure in paper(root, name)["figures"])
    ]


def experiments_of(root: Path, paper_name: str) -> list[str]:
    """Experiments that the figures of a paper name, each once."""
    return sorted({figure["experiment"] for figure in paper(root, paper_name)["figures"]})
