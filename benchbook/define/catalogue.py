"""What is to be built and measured: folders of kernels/ and data/published/, found by wildcard.

Standard library, yaml and pydantic only: the Snakefile imports this.
"""

from __future__ import annotations

from os.path import normpath
from pathlib import Path
from typing import Any

from benchbook.core.errors import BenchbookError
from benchbook.define import peers
from benchbook.define.models import Control, ControlKernel, Experiment, Paper, Probe
from benchbook.define.settings import PRESETS
from benchbook.define.yaml_files import load

PROBE = "probe"
CONTROLS = "controls/"
CONTROL = "control"  # the variant of a control's points that name no other
SIDES = ("provoked", "nulls")
REPLAY = "replay.py"  # beside control.yaml: scenes that no machine at hand can play
SETTLING = "-settle"  # ends the names of runs made by `benchbook settle`
OWN = ("limits", "trials", "throughput")  # of an experiment, and not of controls with its kernel
FIGURES = ("select", "grid", "ranges", "recomputed")  # what a published table is set beside


def experiments(root: Path) -> list[str]:
    """Names of all experiments: folders of kernels/ with an experiment.yaml."""
    return sorted(path.parent.name for path in (root / "kernels").glob("*/experiment.yaml"))


def controls(root: Path) -> list[str]:
    """Names of all controls, as `controls/<artefact>`."""
    found = (root / "kernels" / "controls").glob("*/control.yaml")
    return sorted(CONTROLS + path.parent.name for path in found)


def played(root: Path) -> list[str]:
    """The controls that this machine can play: all but those that are replayed only."""
    return [
        name for name in controls(root) if load(definition_file(root, name), Control).get("kernel")
    ]


def papers(root: Path) -> list[str]:
    """Names of all papers: folders of data/published/ with a paper.yaml."""
    return sorted(path.parent.name for path in (root / "data/published").glob("*/paper.yaml"))


def in_turn(root: Path) -> list[str]:
    """Names of all papers in the order in which they are measured."""
    return sorted(papers(root), key=lambda name: (not paper(root, name).get("first"), name))


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
        return _as_experiment(root, path, load(path, Control))
    content = load(path, Probe if name == PROBE else Experiment)
    content["variants"] = _derived(path, content["variants"])
    if content["base"] not in content["variants"]:
        known = ", ".join(content["variants"])
        raise BenchbookError(
            f"{path}: key 'base' is {content['base']!r}, which is no variant; allowed: {known}"
        )
    if name != PROBE:
        content["variants"] |= peers.read(path.parent, content)
    return content


def _derived(path: Path, variants: dict[str, Any]) -> dict[str, dict[str, Any]]:
    """Variants with the compiler and the flags of the one that they are like."""
    found: dict[str, dict[str, Any]] = {}
    for name, spec in variants.items():
        if ("compiler" in spec) == ("like" in spec):
            raise BenchbookError(f"{path}: variant {name!r} needs either 'compiler' or 'like'")
        if "like" in spec and spec["like"] not in found:
            raise BenchbookError(
                f"{path}: variant {name!r} is like {spec['like']!r}, which does not stand before it"
            )
        before = found[spec["like"]] if "like" in spec else {"compiler": spec["compiler"]}
        flags = [*before.get("flags", []), *spec.get("flags", [])]
        sizes = {**before.get("sizes", {}), **spec.get("sizes", {})}
        found[name] = {"compiler": before["compiler"], "flags": flags, "sizes": sizes}
        for key in ("wrapper", "environment"):
            if value := spec.get(key, before.get(key)):
                found[name][key] = value
    return found


def _as_experiment(root: Path, path: Path, control: dict[str, Any]) -> dict[str, Any]:
    if not control.get("kernel"):
        raise BenchbookError(f"{path}: this control has no kernel: it is replayed, never measured")
    host = _kernel(root, path, control["kernel"])
    settings = control.get("settings", {})
    own = {key: control[key] for key in ("limits", "trials") if control.get(key)}
    kept = {key: value for key, value in host.items() if key not in OWN}
    return {
        **kept,
        **own,
        "paper_samples": 10,  # no paper's: 100,000 round trips of each spinning point took a minute
        "question": control["text"],
        "base": CONTROL,
        "variants": _derived(
            path, {CONTROL: control.get("variant", {}), **control.get("variants", {})}
        ),
        "twins": [],
        "points": {
            "tiny": [cross for side in SIDES for cross in crosses_of_control(control, side)]
        },
        "settings": {key: value for key, value in settings.items() if value is not None},
        "blocks": control.get("blocks", 3),
        "simulate": control.get("simulate", False),
        "serial": crosses_of_control(control, "provoked")
        if control.get("order") == "serial"
        else [],
    }


def crosses_of_control(control: dict[str, Any], side: str) -> list[dict[str, Any]]:
    """The crosses that provoke (`provoked`) or do not (`nulls`), each with its variant."""
    return [{"variant": CONTROL, **cross} for cross in control.get(side, [])]


def kernel_file(root: Path, kernel: str) -> Path:
    """The file with the factors of a control's kernel: an experiment's, or another control's."""
    folder = root / "kernels" / kernel
    return folder / ("kernel.yaml" if kernel.startswith(CONTROLS) else "experiment.yaml")


def _kernel(root: Path, path: Path, kernel: str) -> dict[str, Any]:
    file = kernel_file(root, kernel)
    if not file.exists():
        own = (root / "kernels/controls").glob("*/kernel.yaml")
        names = [*experiments(root), *sorted(CONTROLS + file.parent.name for file in own)]
        raise BenchbookError(
            f"{path}: key 'kernel' is {kernel!r}, which is no kernel; known: {', '.join(names)}"
        )
    return load(file, ControlKernel if kernel.startswith(CONTROLS) else Experiment)


def paper(root: Path, name: str) -> dict[str, Any]:
    """The checked paper.yaml of one paper."""
    path = root / "data/published" / name / "paper.yaml"
    if not path.exists():
        known = ", ".join(papers(root))
        raise BenchbookError(f"paper {name!r} is not in data/published; known: {known}")
    content = load(path, Paper)
    if not content.setdefault("figures", []) and not content.get("open"):
        raise BenchbookError(f"{path} has no figure; declare one in `figures` or in `open`")
    for figure in content["figures"]:
        given = [kind for kind in FIGURES if kind in figure]
        if len(given) != 1 or not figure[given[0]]:
            raise BenchbookError(
                f"{path}: figure {figure['id']!r} needs one of {', '.join(map(repr, FIGURES))}"
            )
        figure.setdefault("select", _cells(figure) if "grid" in figure else [])
    return content


def _cells(figure: dict[str, Any]) -> list[dict[str, Any]]:
    """The cells of a grid as series, column by column."""
    grid = figure["grid"]
    return [
        {
            "row": {figure["x"]: row},
            "y": column,
            "point": {**grid.get("point", {}), **of_column, **of_row},
        }
        for column, of_column in grid["columns"].items()
        for row, of_row in grid["rows"].items()
    ]


def crosses(content: dict[str, Any], preset: str) -> list[dict[str, Any]]:
    """The crosses of a preset: its own and those of the smaller presets."""
    upto = PRESETS[: PRESETS.index(preset) + 1]
    return [cross for name in upto for cross in content["points"].get(name, [])]


def figures_of(root: Path, experiment: str) -> list[dict[str, Any]]:
    """All figures, of all papers, that this experiment reruns; each with its paper's id."""
    return [
        {**figure, "paper": name}
        for name in papers_of(root, experiment)
        for figure in paper(root, name)["figures"]
        if figure["experiment"] == experiment
    ]


def crosses_of_figure(root: Path, experiment: str, wanted: str) -> list[dict[str, Any]]:
    """The settings of the points that one figure (`<paper>/<figure>`) shows or compares."""
    settings = []
    for figure in figures_of(root, experiment):
        if f"{figure['paper']}/{figure['id']}" == wanted:
            settings += shown_settings(figure)
            for claim in figure.get("claims", []):
                for estimand in (claim["estimand"], moved(claim)):
                    for named in settings_of(estimand).values():
                        settings += named
            settings += settings_of_anomalies(figure)
    return settings


def settings_of_anomalies(figure: dict[str, Any]) -> list[dict[str, Any]]:
    """The settings of the points in the chains of a figure's anomalies."""
    return [
        setting
        for anomaly in figure.get("anomalies", [])
        for setting in (
            anomaly["odd"],
            anomaly["base"],
            *(step["removed"] for step in anomaly["steps"] if "removed" in step),
        )
    ]


def shown_settings(figure: dict[str, Any]) -> list[dict[str, Any]]:
    """The settings of the points that a figure shows; of a range all its points in one."""
    ranges = [series["points"] for series in figure.get("ranges", [])]
    rerun = [series["point"] for series in figure["select"] if "point" in series]
    return [*rerun, *ranges]


def settings_of(estimand: dict[str, Any]) -> dict[str, list[dict[str, Any]]]:
    """The settings of the points that each side of an estimand names; none of a fact."""
    sides = {
        side: value if isinstance(value, list) else [value] for side, value in estimand.items()
    }
    return {
        side: settings
        for side, settings in sides.items()
        if settings and all(isinstance(setting, dict) for setting in settings)
    }


def moved(claim: dict[str, Any]) -> dict[str, Any]:
    """A claim's estimand under the factors that it names as `beside`; empty where it names none."""
    changed, estimand = claim.get("beside"), claim["estimand"]
    if not changed:
        return {}
    return {**estimand} | {
        side: [setting | changed for setting in settings]
        if isinstance(estimand[side], list)
        else settings[0] | changed
        for side, settings in settings_of(estimand).items()
    }


def variants_needed(root: Path, experiment: str, preset: str, figure: str | None) -> list[str]:
    """The variants that a preset (or one figure) measures, tries or compares with."""
    content = definition(root, experiment)
    is_control = experiment.startswith(CONTROLS)
    named = [*content.get("twins", []), *content.get("trials", [])]
    if experiment == PROBE:
        named = [{"variant": name} for name in content["variants"]]
    elif figure and not is_control:
        named += crosses_of_figure(root, experiment, figure)
    else:
        named += crosses(content, "tiny" if is_control else preset)
    wanted = {content["base"]}
    for cross in named:
        variant = cross.get("variant", content["base"])
        wanted.update(variant if isinstance(variant, list) else [variant])
    return [
        name
        for name, spec in content["variants"].items()
        if name in wanted or spec.get("peer", {}).get("twin") in wanted
    ]


def kernel_folder(root: Path, name: str) -> Path:
    """Where the C sources of an experiment, control or the probe lie."""
    if name.startswith(CONTROLS):
        return root / "kernels" / load(definition_file(root, name), Control)["kernel"]
    return root / "kernels" / name


def source_files(root: Path, name: str) -> list[Path]:
    """Every file that enters the binaries: the kernel's own files, those of folders that it takes
    sources from, and the common ones."""
    own = kernel_folder(root, name)
    taken = {Path(normpath(own / source)).parent for source in definition(root, name)["sources"]}
    folders = {own, *taken, root / "kernels" / "common"}
    found = [path for folder in folders for path in folder.glob("*.[chSx]")]
    if name.startswith(CONTROLS):  # a wrapper lies beside its definition
        beside = (root / "kernels" / name).iterdir()
        found += [file for file in beside if file.is_file() and not file.suffix]
    return sorted(set(found))


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
