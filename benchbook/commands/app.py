"""The commands: what people type, and what the workflow's rules call (hidden).

Heavy imports stay inside them: the measuring stage starts often.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated, Any

import typer

from benchbook.core.errors import BenchbookError

ROOT = Path()
app = typer.Typer(
    add_completion=False,
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    help="Reruns published performance experiments and says which numbers you may believe.",
)
serving = typer.Typer(no_args_is_help=True, help="Answer other machines that measure the network.")
app.add_typer(serving, name="serve")
beginning = typer.Typer(no_args_is_help=True, help="Begin an experiment or a paper of your own.")
app.add_typer(beginning, name="new")
Output = Annotated[Path, typer.Option(help="the file to write")]
Settings = Annotated[str, typer.Option(help="settings as JSON")]
Config = Annotated[
    list[str] | None, typer.Option("--config", metavar="KEY=VALUE", help="as with snakemake")
]
AsJson = Annotated[bool, typer.Option("--json", help="print facts as JSON")]


@app.callback()
def common(
    context: typer.Context,
    log: Annotated[Path | None, typer.Option(help="keep what is said in this file too")] = None,
) -> None:
    """Options before the command."""
    if log is not None:
        from benchbook.core import stage_times
        from benchbook.core.files import Tee

        stage_times.note_at_exit(context.invoked_subcommand or "")
        sys.stderr = Tee(sys.stderr, log)


@app.command()
def plan(config: Config = None, as_json: AsJson = False) -> None:
    """Points, blocks, minutes, memory, disk and what is skipped, before anything is measured."""
    from benchbook.commands.plan import show

    show(ROOT, overrides(config or []), as_json=as_json)


@app.command()
def doctor(as_json: AsJson = False) -> None:
    """The door, tools and versions, and how to get what is missing here."""
    from benchbook.commands.doctor import show

    show(ROOT, as_json=as_json)


@app.command()
def explain(
    files: Annotated[list[Path], typer.Argument(metavar="FILE…", help="- is standard input")],
    l3: Annotated[str, typer.Option("--l3", help="last-level caches there, like '32 MiB'")] = "",
    host: Annotated[
        str, typer.Option(help="where it ran: 'here', a host with results, or its plan.json")
    ] = "",
    as_json: AsJson = False,
) -> None:
    """Read what any benchmark printed, and say what is wrong with it."""
    from benchbook.commands.explain import explain as run

    run(files, l3, host, as_json=as_json)


@app.command()
def compare(
    a: Annotated[str, typer.Argument(metavar="A", help="a run's folder, HOST, or HOST/PRESET")],
    b: Annotated[str, typer.Argument(metavar="B", help="what is held against it")],
    html: Annotated[bool, typer.Option("--html", help="write reports/compare.html")] = False,
    as_json: AsJson = False,
) -> None:
    """How many times as fast B is as A, point by point, and what else differs."""
    from benchbook.commands.compare import show

    show(ROOT, a, b, as_json=as_json, html=html)


@app.command()
def record(
    names: Annotated[list[str], typer.Argument(metavar="NAME…", help="an experiment, or a run")],
) -> None:
    """Copy complete runs to data/recorded, with checksums, for the repository to keep."""
    from benchbook.records.archive import record as run

    for path in run(ROOT, names):
        print(path)


@app.command("keep-count")
def keep_count() -> None:
    """Keep what `make test-long` has counted here, so that other hosts go on from there."""
    from benchbook.controls.campaign import keep

    print(keep(ROOT))


@app.command("import")
def import_log(
    file: Annotated[Path, typer.Argument(help="- is standard input")],
    name: Annotated[str, typer.Option("--as", help="what the run is called on pages")],
    l3: Annotated[str, typer.Option("--l3", help="last-level caches there, like '32 MiB'")] = "",
    host: Annotated[str, typer.Option(help="where it ran, as with explain")] = "",
) -> None:
    """Keep a log that was made elsewhere, to be shown beside your own figures."""
    from benchbook.explain.api import keep_log, machine_of

    print(keep_log(ROOT, file, name, machine_of(ROOT, l3, host)))


@app.command()
def settle(
    claim: str,
    config: Config = None,
    blocks: Annotated[int | None, typer.Option(help="instead of those that were reckoned")] = None,
    as_json: AsJson = False,
) -> None:
    """Measure a new run that alone decides one inconclusive CLAIM (paper/figure/claim)."""
    from benchbook.commands.settle import settle as run
    from benchbook.core.processes import follow_parent

    follow_parent(None)
    run(ROOT.absolute(), claim, overrides(config or []), blocks, as_json=as_json)


@app.command()
def control(
    artefact: str,
    config: Config = None,
    seeds: Annotated[int, typer.Option(help="of its replay, if it has one")] = 3,
) -> None:
    """Play one control anew on this machine, and print what the detectors made of it."""
    from benchbook.controls.run import try_one
    from benchbook.core.processes import follow_parent

    follow_parent(None)
    try_one(ROOT.absolute(), artefact, overrides(config or []), seeds)


@serving.command("udp-echo")
def serve_udp_echo(
    bind: Annotated[str, typer.Option(metavar="ADDRESS", help="of this machine, IPv4")],
    port: Annotated[
        int | None, typer.Option(min=1, max=65535, help="else the one that udp_peer has")
    ] = None,
    wait: Annotated[str, typer.Option(help="asleep (block), or asking on and on (spin)")] = "block",
) -> None:
    """Give back each datagram to its sender, for --config udp_peer=ADDRESS there; until Ctrl-C."""
    from benchbook.commands.serve import udp_echo

    udp_echo(ROOT.absolute(), bind, port, wait)


@beginning.command("experiment")
def begin_experiment(name: str) -> None:
    """kernels/NAME, which runs as it is: change it from there."""
    from benchbook.commands.new import new_experiment

    for path in new_experiment(ROOT, name):
        print(path)


@beginning.command("paper")
def begin_paper(
    name: str,
    experiment: Annotated[str, typer.Option(help="whose points rerun its table")] = "mbw",
) -> None:
    """data/published/NAME and its notebook, which run as they are: fill them in from there."""
    from benchbook.commands.new import new_paper

    for path in new_paper(ROOT, name, experiment):
        print(path)


@app.command()
def bench() -> None:
    """Ratios and seconds of Benchbook itself (make bench)."""
    from benchbook.commands.bench import show

    show(ROOT)


@app.command(hidden=True)
def build(experiment: str, variant: str, output: Output) -> None:
    """Compile one variant; a failed compile is a result."""
    from benchbook.build.stage import build_variant

    record = build_variant(ROOT, experiment, variant, output)
    if record["state"] != "ok":
        print(f"{experiment}/{variant}: {record['state']}: {record['reason']}", file=sys.stderr)


@app.command(hidden=True)
def measure(
    experiment: str,
    variants: list[Path],
    settings: Settings,
    output: Output,
    parent: Annotated[int | None, typer.Option(help="die with this process")] = None,
) -> None:
    """Measure one experiment unless a complete run of this plan exists."""
    from benchbook.core.processes import follow_parent
    from benchbook.define.settings import settings_of_json

    follow_parent(parent)
    from benchbook.measure.stage import measure as run

    run(ROOT.absolute(), experiment, settings_of_json(settings), variants, output)


@app.command(hidden=True)
def limits(experiment: str, output: Output) -> None:
    """Search the sizes at which static arrays no longer link; a refusal is a result."""
    from benchbook.build.link_limits import find_limits

    find_limits(ROOT, experiment, output)


@app.command(hidden=True)
def evidence(
    pointer: Path,
    output: Output,
    limits: Annotated[list[Path] | None, typer.Argument()] = None,
    parent: Annotated[int | None, typer.Option(help="die with this process")] = None,
) -> None:
    """Collect observations of a run, count or simulate its points, and make its trials."""
    from benchbook.core.processes import follow_parent

    follow_parent(parent)
    from benchbook.evidence.stage import collect

    collect(pointer, limits or [], output)


@app.command(hidden=True)
def tables(pointer: Path, output: Output) -> None:
    """Write a run's samples as one table."""
    from benchbook.analyse.tables import write_samples

    write_samples(pointer, output)


@app.command(hidden=True)
def analyse(
    pointer: Path,
    samples: Annotated[Path, typer.Option()],
    evidence: Annotated[Path, typer.Option()],
    output: Output,
) -> None:
    """Estimates, states and findings of a run."""
    from benchbook.analyse.stage import analyse as run

    run(pointer, samples, evidence, output)


@app.command(hidden=True)
def judge(
    paper: str,
    output: Output,
    analyses: Annotated[list[Path] | None, typer.Argument()] = None,
    figure: Annotated[str, typer.Option()] = "",
    preset: Annotated[str, typer.Option()] = "",
    host: Annotated[str, typer.Option()] = "",
    recorded: Annotated[list[Path] | None, typer.Option()] = None,
) -> None:
    """A paper's figures with reruns and verdicts."""
    from benchbook.judge.stage import judge as run

    run(ROOT, paper, figure, analyses or [], output, {"preset": preset, "host": host}, recorded)


@app.command("analyse-recorded", hidden=True)
def analyse_recorded(run: Path, output: Output) -> None:
    """A recorded run analysed anew, to stand beside figures; or why it cannot."""
    from benchbook.judge.recorded_runs import analyse_recorded as make

    make(ROOT, run, output)


@app.command("merge-samples", hidden=True)
def merge_samples(files: list[Path], output: Output) -> None:
    """All experiments' samples in one table."""
    from benchbook.analyse.tables import merge_samples as run

    run(files, output)


@app.command("merge-findings", hidden=True)
def merge_findings(analyses: list[Path], output: Output) -> None:
    """findings.json over all experiments."""
    from benchbook.judge.stage import merge_findings as run

    run(analyses, output)


@app.command("merge-verdicts", hidden=True)
def merge_verdicts(papers: list[Path], output: Output) -> None:
    """verdicts.json over all papers."""
    from benchbook.commands.verdicts import merge as run

    run(papers, output)


@app.command(hidden=True)
def audit(output: Output) -> None:
    """audit.json: the own numbers of all papers, recomputed."""
    from benchbook.audit import write

    write(ROOT, output)


@app.command("play-controls", hidden=True)
def play_controls(
    controls: list[str],
    settings: Settings,
    results: Annotated[Path, typer.Option(help="folder of this host and preset")],
    parent: Annotated[int | None, typer.Option(help="die with this process")] = None,
) -> None:
    """Measure controls unless their runs exist, and analyse them."""
    from benchbook.core.processes import follow_parent
    from benchbook.define.settings import settings_of_json

    follow_parent(parent)
    from benchbook.controls.run import play_all

    play_all(ROOT.absolute(), controls, settings_of_json(settings), results)


@app.command("judge-controls", hidden=True)
def judge_controls(
    output: Output, analyses: Annotated[list[Path] | None, typer.Argument()] = None
) -> None:
    """controls.json: provoked, detected, abstained, false alarms."""
    from benchbook.controls.score import judge_all as run

    run(ROOT, analyses or [], output)


@app.command(hidden=True)
def page(
    notebook: Path,
    output: Output,
    paper: Annotated[Path, typer.Option()],
    executed: Annotated[Path, typer.Option()],
    alone: Annotated[bool, typer.Option("--alone", help="to be sent: no way to an index")] = False,
) -> None:
    """Execute a paper's notebook and export it as one page."""
    from benchbook.report.notebook_export import make_page

    make_page(notebook, paper, executed, output, alone=alone)


@app.command("controls-page", hidden=True)
def controls_page(controls: Path, output: Output) -> None:
    """reports/controls.html out of controls.json."""
    from benchbook.report.index_page import make_controls

    make_controls(controls, output)


@app.command("machine-page", hidden=True)
def machine_page(files: list[Path], output: Output) -> None:
    """reports/machine.html out of analyses, and papers for their twins."""
    from benchbook.report.machine_page import make_machine

    make_machine(files, output)


@app.command("imported-page", hidden=True)
def imported_page(output: Output) -> None:
    """reports/imported.html out of data/imported."""
    from benchbook.report.imported_page import make_imported

    make_imported(ROOT, output)


@app.command(hidden=True)
def index(papers: list[Path], controls: Annotated[Path, typer.Option()], output: Output) -> None:
    """reports/index.html out of all papers and controls.json."""
    from benchbook.report.index_page import make_index

    make_index(papers, controls, output)


@app.command(hidden=True)
def schemas(check: Annotated[bool, typer.Option("--check")] = False) -> None:
    """Write the JSON schemas of all YAML files, or fail where they differ from the models."""
    from benchbook.define.schemas import write

    write(check=check)


def overrides(pairs: list[str]) -> dict[str, Any]:
    """KEY=VALUE words as snakemake reads them; nested keys are not taken."""
    import yaml

    from benchbook.define.yaml_files import BROKEN

    found = {}
    for pair in pairs:
        key, separator, value = pair.partition("=")
        if not separator or not key:
            raise BenchbookError(f"--config takes KEY=VALUE, not {pair!r}")
        try:
            found[key] = yaml.safe_load(value)
        except (yaml.YAMLError, *BROKEN):
            raise BenchbookError(
                f"--config: key {key!r} is {value!r}, which is not valid YAML; mend it or put it "
                "in quotes"
            ) from None
    return found
