"""What config, experiment, control, probe, peer and paper files may say. Unknown keys are refused.

`read` of yaml_files.py makes these of the files. The JSON schemas in benchbook/define/schemas/, for
editors, are generated from them (`benchbook schemas`); a test fails when they drift apart.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Annotated, Any, Literal

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, WrapValidator, model_validator
from pydantic_core import PydanticCustomError

from benchbook.core.addresses import address_and_port
from benchbook.define.refusals import ALLOWED, KIND, NAME, UNKNOWN_KEY

MOST_S = 31 * 86400  # of any time that is set; a month
Version = Literal[1]
Preset = Literal["tiny", "quick", "paper"]
Value = str | int | float
Setting = dict[str, Value | list[Value]]
Name = Annotated[str, Field(pattern=NAME)]
Network = Annotated[
    bool,
    Field(description="its factors `path` and `switches` are a network that the measurer lays"),
]


def _as_written(value: Any, validate: Callable[[Any], Any]) -> Any:
    validate(value)
    return value


def _peer(text: str) -> str:
    try:
        address_and_port(text)
    except ValueError as allowed:
        raise PydanticCustomError(
            ALLOWED, "it must be {allowed}", {"allowed": str(allowed)}
        ) from None
    return text


# A whole number stays one: hashes of claims and runs are made of the text `10`, not of `10.0`.
Number = Annotated[float, WrapValidator(_as_written)]


class Model(BaseModel):
    """A mapping of a YAML file: values as written, never converted, and no key that it lacks."""

    # A model is built when it is first used: a workflow that is started needs few of them.
    model_config = ConfigDict(extra="forbid", frozen=True, strict=True, defer_build=True)

    @model_validator(mode="before")
    @classmethod
    def _has_only_known_keys(cls, content: Any) -> Any:
        """Refuse other keys first, and with those that are allowed, which pydantic leaves out."""
        if isinstance(content, dict):
            allowed = {field.alias or name for name, field in cls.model_fields.items()}
            if unknown := sorted(set(content) - allowed):
                listed = ", ".join(sorted(allowed - {"version"}))  # which nobody sets by hand
                context = {"key": unknown[0], "allowed": listed}
                raise PydanticCustomError(UNKNOWN_KEY, "unknown key", context)
        return content


class Disturbance(Model):
    """Thresholds, set before a run, above which a block is repeated whole."""

    run_delay_fraction: Number = Field(
        gt=0, le=1, description="time spent runnable but not running ÷ timed parts of a start"
    )
    run_delay_least_ns: int = Field(
        ge=0, description="where waits add up to less they disturb nothing"
    )
    steal_fraction: Number = Field(
        gt=0, le=1, description="time the hypervisor gave to others ÷ wall time of an invocation"
    )
    work_factor: Number = Field(
        gt=1, description="probe: time of a core's fixed work ÷ the fastest seen in this run"
    )
    repeats: int = Field(ge=0, le=24, description="disturbed blocks repeated at most per run")


class OfLibraries(Model):
    """A device of each library, which counts them in its own order."""

    opencl: int | str | None = None
    cuda: int | str | None = None


class NodeKind(Model):
    """Nodes of a cluster that are alike: one host of its own, measured by a Slurm job."""

    name: Name
    partition: str | None = Field(default=None, description="Slurm's own default without one")
    constraint: str | None = Field(default=None, description="features that its nodes must have")
    extra: str = Field(default="", description="more options of sbatch")
    here: bool = Field(default=False, description="the submitting node itself, without a job")

    @model_validator(mode="after")
    def _here_is_no_job(self) -> NodeKind:
        """Refuse options of a job where there is none."""
        if self.here and (self.partition or self.constraint or self.extra):
            raise PydanticCustomError(
                ALLOWED,
                "{allowed}",
                {"allowed": "no partition, constraint or extra with `here`: it is no Slurm job"},
            )
        return self


class Settings(Model):
    """config/default.yaml < preset < config/local.yaml < --config."""

    version: Version
    preset: Preset
    figure: str | None = Field(
        pattern=r"^[^/]+/[^/]+$", description="<paper>/<figure>: measure and render just this one"
    )
    again: int = Field(ge=1, le=1000, description="complete runs wanted of the same plan")
    memory_fraction: Number = Field(gt=0, le=0.9, description="of the memory available")
    budget_s: Number = Field(gt=0, le=MOST_S, description="measuring time per paper, seconds")
    controls_budget_s: Number = Field(
        gt=0, le=MOST_S, description="measuring time per control, seconds"
    )
    looks: list[Annotated[int, Field(ge=6, le=200)]] = Field(min_length=1)
    target_half_width: Number = Field(
        gt=0, lt=1, description="of a claim's simultaneous interval, as a log ratio"
    )
    point_s: Number = Field(
        gt=0, le=MOST_S, description="time aimed at per point and invocation, seconds"
    )
    samples_least: int = Field(ge=3, le=1000)
    samples_most: int = Field(ge=3, le=1_000_000)
    sample_least_ns: int = Field(ge=1000, description="a sample loops until it lasts this long")
    warmup: int = Field(ge=0, le=1000, description="repetitions before the samples, kept, marked")
    time_limit_s: Number = Field(
        gt=0, le=MOST_S, description="per invocation; beyond it the kernel hangs"
    )
    anchor_every_s: Number = Field(gt=0, le=MOST_S)
    turns: int = Field(
        default=1,
        ge=1,
        le=1000,
        description="parts in which a point is measured, in turns with those it is compared with",
    )
    before_others: bool = Field(
        default=False, description="measured programs run before other work, where that is allowed"
    )
    hostdev_device: int | str | OfLibraries | None = Field(
        description="the device that experiment hostdev uses: its number, or a part of its name; "
        "for both libraries, or for each"
    )
    udp_peer: Annotated[str, AfterValidator(_peer)] | None = Field(
        description="IPv4 address (and port) of a host that runs `benchbook serve udp-echo`",
    )
    disturbed: Disturbance
    fleet: list[NodeKind] | None = Field(
        default=None, min_length=1, description="kinds of nodes to measure, each a host"
    )

    def having(self, **changes: Any) -> Settings:
        """These settings with some of them changed."""
        return self.model_copy(update=changes)

    def as_written(self, names: Iterable[str] | None = None) -> dict[str, Any]:
        """For JSON: those of these names, else all but the format's version."""
        chosen = None if names is None else set(names)
        return self.model_dump(include=chosen, exclude={"version"}, exclude_unset=True)


class Variant(Model):
    compiler: Name | None = None
    like: Name | None = Field(
        default=None, description="another variant: its compiler and flags, before these flags"
    )
    flags: list[str] = []
    sizes: dict[str, str] = Field(
        default={}, description="macro -> bytes, like `0.12 x RAM`: -D flags that fit this host"
    )
    environment: dict[str, str] = Field(
        default={}, description="variables set for its starts, like the C library's tunables"
    )


class ControlVariant(Variant):
    """A variant whose compiler may be started by a program of the control's."""

    wrapper: list[str] = Field(
        default=[],
        description="program next to control.yaml and its arguments; it gets the command line",
    )


class Factor(Model):
    unit: str | None = None
    text: str
    names: dict[str, str] = Field(default={}, description="value -> what pages call it")


class OwnSettings(Model):
    """Settings of the measuring that an experiment or control needs otherwise than the preset has
    them."""

    point_s: Number | None = Field(default=None, gt=0, le=2)
    samples_least: int | None = Field(default=None, ge=1, le=10_000)
    samples_most: int | None = Field(default=None, ge=1, le=1_000_000)
    sample_least_ns: int | None = Field(default=None, ge=1)
    warmup: int | None = Field(default=None, ge=0, le=1000)
    turns: int | None = Field(default=None, ge=1, le=1000)
    time_limit_s: Number | None = Field(default=None, gt=0, le=60)


class Limits(Model):
    """Static arrays too large for compiler or linker: the size is searched for each variant."""

    define: str = Field(
        pattern=r"^[A-Za-z_][A-Za-z0-9_]*$", description="macro: bytes of each static array"
    )
    arrays: int = Field(ge=1, description="how many arrays have that size")
    variants: list[Name] = Field(min_length=1)


class Emulation(Model):
    """What points only emulate: they are measured and drawn, and no claim is decided on them."""

    observation: Name = Field(description="of the kernel; above 0 at the points that emulate")
    says: str = Field(min_length=1, description="what stands for what, as a reason goes on with it")


class Trial(Model):
    """One start, not timed, under a limit of address space: what happens is the result.

    Sizes may be multiples of the memory available, like `2 x memory`.
    """

    text: str = Field(min_length=1)
    variant: Name
    options: dict[Name, Value] = Field(description="factors among `starts`")
    point: dict[Name, Value] = Field(description="the other factors")


class Transfer(Model):
    """One start of iperf3: so many bytes from host A to host B."""

    protocol: Literal["tcp", "udp"]
    bytes: int = Field(gt=0)
    bits_per_s: int = Field(
        default=0, ge=0, description="of UDP: the rate aimed at; 0: as fast as it can send"
    )


class Throughput(Model):
    """How much goes through the same network, by iperf3: once, beside the paired blocks."""

    path: Literal["veth", "bridges", "bucket"]
    switches: int = Field(default=0, ge=0)
    link_bits_per_s: int = Field(default=0, ge=0)
    datagram_bytes: int = Field(ge=16, le=65507, description="payload of each datagram")
    transfers: dict[Preset, list[Transfer]] = Field(
        description="in this order; a preset adds to the smaller ones"
    )


class Library(Model):
    """A library of others that a kernel is linked with, by its name for the linker."""

    header: str = Field(description="one that it brings, as sources include it")
    below: str = Field(
        default="", description="folder of the compiler's folders of headers that has it"
    )
    package: Name = Field(description="Debian's package, for messages and the set-up")


class Experiment(Model):
    """kernels/<experiment>/experiment.yaml"""

    version: Version
    question: str
    sources: list[str] = Field(min_length=1)
    procedures: list[Annotated[str, Field(pattern=r"^[a-z][a-z0-9_]*\.x$")]] = Field(
        default=[],
        description="files of Sun RPC, of which rpcgen makes stubs, built in too",
    )
    libraries: dict[Name, Library] = Field(
        default={}, description="linked with; where one is missing, no point can run"
    )
    flags: list[str] = Field(default=[], description="of every variant, before its own")
    factors: dict[Name, Factor]
    starts: list[Name] = Field(
        description="kernel options: one start of the program per value; other factors share it"
    )
    parts: list[Name] = Field(
        default=[],
        description="sizes among `starts`. Points that take turns share one start of the largest. "
        "Each works on a part of its own size. Not where the CPUs are of several nodes.",
    )
    definitions: dict[Name, str] = Field(description="method -> what the check demands of it")
    names: dict[Name, str] = Field(default={}, description="method -> what pages call it")
    calls: dict[str, list[str]] = Field(
        default={}, description="timed function -> library calls that must be in it"
    )
    may_call: dict[str, list[str]] = Field(
        default={},
        description="timed function -> library calls that its source may make: no loop replaced",
    )
    buffers: int = Field(ge=0, description="buffers of `bytes` held at once, for the memory plan")
    network: Network = False
    real_time: bool = Field(
        default=True, description="false: its programs wait for others that need the same CPUs"
    )
    cpus: Literal["all"] | None = Field(
        default=None, description="given to each start; else as many as its threads or processes"
    )
    settings: OwnSettings = OwnSettings()
    unlooped: list[Setting] = Field(
        default=[],
        description="points with these factors: each sample is one call, however short",
    )
    alone: list[Setting] = Field(
        default=[],
        description="points with these factors: their program is never alive together with "
        "another, not even stopped",
    )
    baseline: dict[Name, Value] = Field(
        default={},
        description="factors that make of a point the one whose time is taken off it, block by "
        "block",
    )
    plain: dict[Name, Value] = Field(
        default={},
        description="factors that make of a point the plain one that does the same work, which its "
        "rate is held against, block by block",
    )
    passes: list[str] = Field(
        default=[],
        description="environment variables of the caller that the measured programs see too",
    )
    simulate: bool = Field(
        default=True,
        description="count or simulate the lines that its points touch; not where a device does "
        "the work",
    )
    devices: list[str] = Field(
        default=[],
        description="abilities (of `benchbook doctor`) whose devices do its work: another "
        "device or driver is another run",
    )
    settings_of: dict[Name, str] = Field(
        default={},
        description="kernel option -> key of config/ that gives its value, unless null; of a "
        "mapping each key gives `<key>-<option>`",
    )
    base: Name
    variants: dict[Name, Variant] = Field(min_length=1)
    twins: list[Setting] = Field(default=[], description="points measured as A/A and relinked too")
    paper_samples: int = Field(ge=1, description="N of the paper's own statistic")
    paper_statistic: Literal["mean", "best"] = Field(
        default="mean", description="what the paper makes of its N samples"
    )
    ceilings: dict[Name, list[Name]] = Field(
        default={}, description="traffic -> methods whose best rate beyond the caches bounds it"
    )
    points: dict[Preset, list[Setting]] = Field(
        description="crosses of factor values; a preset adds to the smaller ones"
    )
    emulation: Emulation | None = None
    limits: Limits | None = None
    trials: list[Trial] = []
    throughput: Throughput | None = None


class VersionFrom(Model):
    """How a tool tells its version; the pattern's first group is the version."""

    arguments: list[str]
    pattern: str


class Layout(Model):
    """Where buffers begin within a page."""

    source_offset_bytes: int = Field(ge=0, lt=4096, multiple_of=8)
    destination_offset_bytes: int = Field(ge=0, lt=4096, multiple_of=8)


class SimulatedPeer(Model):
    """Arguments of two starts that differ in one repetition, with none of its data in a cache."""

    less: list[str] = Field(min_length=1, description="without it; names what `arguments` may")
    more: list[str] = Field(min_length=1, description="with it")


class PeerMeasure(Model):
    """What a peer is asked for where a point of its twin has these factors."""

    setting: dict[Name, Value]
    arguments: list[str] = Field(
        min_length=1,
        description="may name {repetitions}, {declared_bytes}, factors, sizes as {<factor>_mib}; "
        "over a network {far_address} and {port}",
    )
    simulated: SimulatedPeer | None = Field(
        default=None, description="how the lines that it touches are found by cache simulation"
    )


class PeerServer(Model):
    """The same program at the other end of the network, for as long as a start lasts."""

    arguments: list[str] = Field(min_length=1, description="names {port}; as in `measures`")
    protocol: Literal["tcp", "udp"] = Field(description="of the port that it listens on")


class Examined(Model):
    """Who looked at a program, when, and which build of it: no run repeats that."""

    by: str = Field(min_length=1)
    date: Annotated[str, Field(pattern=r"^\d{4}-\d\d-\d\d$")]
    package: str = Field(min_length=1, description="with its full version: `mbw 1.2.2-1.1, amd64`")


class Labels(Model):
    """What a tool's tests run under the names that it prints, where those say something else."""

    examined: Examined
    runs: dict[str, Name] = Field(min_length=1, description="printed label -> method")
    proof: str = Field(min_length=1, description="how this is known, in sentences")
    unknown: str = Field(min_length=1, description="what was not examined, in sentences")


class Peer(Model):
    """kernels/<experiment>/peers/<variant>.yaml: somebody else's program, measured beside ours."""

    version: Version
    tool: Name = Field(description="program on PATH")
    package: Name = Field(description="Debian's package, for messages")
    text: str = Field(min_length=1)
    version_from: VersionFrom | None = Field(
        default=None, description="without it Debian's package manager is asked"
    )
    describes: str | None = Field(
        default=None, min_length=1, description="begins the versions that this file is true of"
    )
    cpu_flags: list[Name] = Field(default=[], description="what the processor must have")
    parser: Name = Field(description="module in benchbook/peers/parsers/")
    twin: Name = Field(description="our variant, whose points it measures as far as it can")
    layout: Layout | None = Field(
        default=None, description="the tool's own, which its variant of ours uses too"
    )
    declares: int = Field(default=1, ge=1, description="bytes it counts per byte of `bytes`")
    multiples: dict[Name, list[str | int]] = Field(
        default={}, description="factor -> sizes, or factors, that it must be a multiple of"
    )
    least: dict[Name, int] = Field(default={}, description="factor -> the smallest that it takes")
    server: PeerServer | None = None
    sleeps_after: str = Field(
        default="",
        description="what it prints before it sleeps, ahead of its measuring: it is started while "
        "others are measured, and stopped in that sleep until its turn",
    )
    by_time: bool = Field(
        default=False,
        description="it takes no number of repetitions: all that it times is kept, and its warm-up "
        "it leaves out itself",
    )
    measures: list[PeerMeasure] = Field(min_length=1)
    labels: Labels | None = None


class ControlKernel(Model):
    """kernels/controls/<artefact>/kernel.yaml: a kernel that is there for controls only."""

    version: Version
    question: str
    sources: list[str] = Field(min_length=1)
    flags: list[str] = Field(default=[], description="of every variant, before its own")
    factors: dict[Name, Factor]
    starts: list[Name] = Field(description="as in experiment.yaml")
    definitions: dict[Name, str] = Field(description="method -> what the check demands of it")
    names: dict[Name, str] = Field(default={}, description="method -> what pages call it")
    calls: dict[str, list[str]] = Field(
        default={}, description="timed function -> library calls that must be in it"
    )
    buffers: int = Field(ge=0, description="buffers of `bytes` held at once, for the memory plan")
    network: Network = False
    ceilings: dict[Name, list[Name]] = Field(default={}, description="as in experiment.yaml")


class ControlTrial(Trial):
    """A trial of a control, which is one that provokes or its null."""

    provoked: bool


class Control(Model):
    """kernels/controls/<artefact>/control.yaml: the artefact provoked, and its clean twin.

    Without a kernel it is replayed only, by the replay.py beside it.
    """

    version: Version
    artefact: Name
    text: str
    kernel: str | None = Field(
        default=None,
        description="an experiment, or `controls/<artefact>` with a kernel.yaml, and its factors",
    )
    variant: ControlVariant | None = Field(
        default=None, description="of the points that name no other"
    )
    variants: dict[Name, ControlVariant] = Field(
        default={}, description="others, where the build is what provokes; `like: control` is one"
    )
    provoked: list[Setting] = []
    nulls: list[Setting] = []
    apart: bool = Field(
        default=False,
        description="each combination is a scene, judged alone: for artefacts found by comparison",
    )
    order: Literal["random", "serial"] = Field(
        default="random",
        description="serial: in the scenes that provoke, all starts of a point before the next's",
    )
    present: list[Name] = Field(
        default=[], description="artefacts that are truly in its points as well"
    )
    blocks: int = Field(default=3, ge=1, le=100)
    settings: OwnSettings = OwnSettings()
    simulate: bool = Field(
        default=False, description="count or simulate the lines that its points touch too"
    )
    limits: Limits | None = None
    trials: list[ControlTrial] = []


class Probe(Model):
    """kernels/probe/probe.yaml: the program that reads the machine's own state."""

    version: Version
    sources: list[str] = Field(min_length=1)
    flags: list[str] = []
    base: Name
    variants: dict[Name, Variant] = Field(min_length=1)
    anchor_bytes: int = Field(gt=0, description="copied by each core in use")
    anchor_samples: int = Field(ge=1)


Quantity = Literal["rate", "time"]
TimeUnit = Literal["ns", "µs", "ms", "s"]


class Ratio(Model):
    """A ratio of two points of one host: quantity of `numerator` ÷ that of `denominator`."""

    kind: Literal["ratio"]
    quantity: Quantity
    numerator: Setting
    denominator: Setting


class RatioOfRanges(Model):
    """Largest ÷ smallest of the points of `numerator`, over the same of `denominator`."""

    kind: Literal["ratio_of_ranges"]
    quantity: Quantity
    numerator: list[Setting] = Field(min_length=2)
    denominator: list[Setting] = Field(min_length=2)


class ExplainedShare(Model):
    """The share of the factor `odd` over `base` that goes where only the cause is removed."""

    kind: Literal["explained_share"]
    quantity: Quantity
    odd: Setting
    base: Setting
    removed: Setting


class Range(Model):
    """(max - min) ÷ max over one factor of a cross, of all or of most settings of the others."""

    kind: Literal["range"]
    quantity: Quantity
    points: Setting
    over: Name = Field(description="the factor whose values are compared")
    holds: Literal["all", "most"]


class Difference(Model):
    """The times of `minuend` added, less those of `subtrahend`."""

    kind: Literal["difference"]
    quantity: Literal["time"]
    unit: TimeUnit
    minuend: list[Setting] = Field(min_length=1)
    subtrahend: list[Setting] = Field(min_length=1, description="as many as of `minuend`")


class Slope(Model):
    """What each step of one factor adds to the time: the slope of a straight line."""

    kind: Literal["slope"]
    quantity: Literal["time"]
    unit: TimeUnit
    points: list[Setting] = Field(min_length=1)
    over: Name = Field(description="the factor, a number, along which the line is drawn")
    ways: Literal[1, 2] = Field(
        default=1,
        description="2: a round trip makes each step twice; the page says what one way adds",
    )


class Unevenness(Model):
    """(largest − smallest step of the time) ÷ mean step, along one factor."""

    kind: Literal["unevenness"]
    quantity: Literal["time"]
    points: list[Setting] = Field(min_length=1)
    over: Name = Field(description="the factor, a number, along which the time grows")


class CountRatio(Model):
    """A ratio of what two points counted: the same observation of both."""

    kind: Literal["count_ratio"]
    count: str = Field(min_length=1, description="the observation, such as `packets`")
    numerator: Setting
    denominator: Setting


class BeyondHost(Model):
    """What no host measures by itself."""

    kind: Literal["beyond_host"]
    what: str = Field(min_length=1, description="the number that would be needed, in words")
    unit: TimeUnit | None = None
    why: str = Field(min_length=1, description="why no host has it")


class TrialEnd(Model):
    """How a trial of the experiment ended."""

    kind: Literal["trial"]
    trial: str = Field(description="its text")
    quantity: Literal["signal", "exit_status"]


class LinkLimit(Model):
    """The largest static array with which a variant links, in bytes."""

    kind: Literal["link_limit"]
    variant: Name


class Audited(Model):
    """The share of the source's own numbers that agree, of one rule of the audit."""

    kind: Literal["audit"]
    table: str
    rule: Name
    column: str | None = Field(default=None, description="only the numbers of this column")


Estimand = Annotated[
    Ratio
    | RatioOfRanges
    | ExplainedShare
    | Range
    | Difference
    | Slope
    | Unevenness
    | CountRatio
    | BeyondHost
    | TrialEnd
    | LinkLimit
    | Audited,
    Field(discriminator=KIND),
]


class Cell(Model):
    """One printed number."""

    table: str
    row: dict[str, Value]
    column: str


class CellsRead(Model):
    """Printed cells of one column that a reading rests on."""

    table: str
    column: str
    rows: list[dict[str, Value]] = Field(default=[], description="none: the whole column")


class Statement(Model):
    """What of the source a sentence of ours rests on: its own words, or cells that we read."""

    verbatim: str | None = Field(
        default=None, min_length=1, description="its sentence, in its own language, unchanged"
    )
    translation: str | None = Field(
        default=None, min_length=1, description="ours, of a sentence that is not English"
    )
    reading: list[CellsRead] | None = Field(
        default=None, min_length=1, description="instead: the cells that we read it from"
    )
    note: str | None = Field(
        default=None, min_length=1, description="what a reader must know of it"
    )


class InItsPlace(Model):
    """A claim that tests the thesis on the systems that this project has."""

    claim: str = Field(description="figure/claim")
    label: str = Field(min_length=1, description="what it compares, in a few words")
    text: str = Field(
        default="",
        description="what was seen, as a clause in which {times} is how many times as fast it is",
    )


class Thesis(Model):
    """What the source itself concludes, and the claim that tests it."""

    text: str = Field(min_length=1, description="in our words, one sentence")
    source: Statement
    claim: str | None = Field(
        default=None, description="figure/claim: the page leads with it, measurable or not"
    )
    label: str = Field(default="", description="what `claim` compares, in a few words")
    in_its_place: list[InItsPlace] = Field(
        default=[], description="shown with the claim where that cannot be measured"
    )
    ran: str = Field(
        default="", description="what ran instead of what cannot be measured, in full sentences"
    )


class Remark(Model):
    """Something else that the source says or shows, and a reader must know."""

    text: str = Field(min_length=1, description="in our words")
    source: Statement
    figure: Name | None = Field(
        default=None, description="the figure that it is about, open or not"
    )


class Claim(Model):
    id: Name
    text: str = Field(description="in our words; never shown in quotation marks")
    source: Statement
    estimand: Estimand
    region: tuple[Number | None, Number | None] = Field(
        strict=False, description="what counts as holding"
    )
    region_reason: str
    statistic: Literal["median", "mean", "best"] | None = Field(
        default=None, description="of each invocation; of a fact there is none"
    )
    scope: str
    cells: dict[Name, Cell] = Field(
        default={},
        description="side -> its printed number, where the source has other settings, or numerator "
        "and denominator of what no host measures",
    )
    about: list[Name] = Field(
        default=[], description="artefacts that the claim itself says to be there"
    )
    repeats: str | None = Field(
        default=None,
        description="figure/claim of which it is the same claim, by other means such as another "
        "library: both are counted as one",
    )
    requires: str | None = Field(
        default=None,
        min_length=1,
        description="what it needs that this host may lack, and what could be said with it",
    )
    beside: dict[Name, Value] | None = Field(
        default=None,
        min_length=1,
        description="factors under which the claim is estimated again for comparison",
    )


class Series(Model):
    """One published row or bar and the point that reruns it, or why none on any host does."""

    row: dict[str, Value] = Field(description="column -> value that finds the row of the table")
    y: str | None = Field(default=None, description="column of the value, where rows have several")
    point: Setting | None = None
    beyond_host: str | None = Field(
        default=None, min_length=1, description="instead of a point: why no host reruns it"
    )


class Grid(Model):
    """A table whose cells are all rerun: row and column each add factors to `point`."""

    rows: dict[str, Setting] = Field(min_length=1, description="cell of column x -> factors")
    columns: dict[str, Setting] = Field(min_length=1, description="column of values -> factors")
    point: Setting = {}


class RangeSeries(Model):
    """A published (max - min) ÷ max and the points over which it is formed again."""

    row: dict[str, Value] = Field(description="column -> value that finds the row of the table")
    y: str | None = Field(default=None, description="column of the value, where rows have several")
    points: Setting
    over: Name = Field(description="the factor whose values are compared")


class Step(Model):
    """One cause that an anomaly may have, looked at after those before it."""

    cause: Name = Field(description="a module of benchbook/judge/causes/")
    removed: Setting | None = Field(
        default=None, description="the point before it with only this cause removed"
    )


class Anomaly(Model):
    """A number of the source that begs a cause: `odd` over `base`, and the chain between them."""

    id: Name
    text: str = Field(min_length=1, description="what begs a cause, in our words")
    odd: Setting
    base: Setting
    steps: list[Step] = Field(min_length=1)


class Scaled(Model):
    """What an imported number is multiplied by, to be what a figure shows."""

    by: Number = Field(gt=0)
    why: str = Field(min_length=1, description="said below the table: what it is the half of, ...")


class Imported(Model):
    """Which results of imported logs measure what a figure shows; each belongs to the row whose
    label is its name, or whose `x` is its value of column `by`."""

    tool: str = Field(min_length=1, description="as `benchbook explain` names it")
    statistic: str = Field(description="best, mean, ...")
    like: dict[str, str | int] = Field(
        default={}, description="columns of the result that have this size, like 32 MiB"
    )
    tests: list[str] = Field(default=[], description="names of the tool's tests; none: any")
    by: Name | None = Field(
        default=None, description="the column of the result that names its row, like message_bytes"
    )
    scaled: Scaled | None = None


class PrintedTraffic(Model):
    """Columns of a table with what programs sent each other."""

    messages_per_s: str
    message_size: str = Field(description="the mean size of a message")
    size_bytes: int = Field(gt=0, description="bytes in the unit of that column, like 1000")


class Figure(Model):
    id: Name
    title: str
    table: str
    experiment: Name
    select: list[Series] = Field(default=[], description="rows of the table; or a grid")
    grid: Grid | None = None
    ranges: list[RangeSeries] | None = Field(
        default=None, min_length=1, description="printed ranges, in percent"
    )
    recomputed: Name | None = Field(
        default=None, description="a rule of the audit: the table is computed, not measured"
    )
    x: str
    y: str | None = Field(default=None, description="column of the values; a grid names its own")
    y_unit: str = Field(
        default="", description="of rates (MiB/s) or of times (µs); ranges: percent"
    )
    machine: str = Field(
        default="", description="which of the source's machines, where it has several"
    )
    published: str = Field(description="what the source shows, and how its numbers were made")
    comparable: bool = Field(
        default=True,
        description="whether its rows do the same work, so that a ratio of two says something",
    )
    imported: list[Imported] = []
    traffic: PrintedTraffic | None = Field(
        default=None, description="messages of its programs, drawn next to those counted here"
    )
    claims: list[Claim] = []
    anomalies: list[Anomaly] = []


class OpenFigure(Model):
    """A published table whose experiment is not built or recorded yet: it has no verdict."""

    id: Name
    title: str
    table: str
    x: str = Field(description="column that labels the rows")
    published: str = Field(description="what the source shows, and how its numbers were made")
    why: str = Field(min_length=1, description="what is missing for a rerun, in words")


class Sizing(Model):
    """A rule of the paper for the size of a buffer, computed for this host beside its sweep."""

    text: str
    experiment: Name
    bytes: str = Field(description="of one buffer, like `4 x total LLC`")
    method: Name = Field(description="whose sweep over sizes it is set against")


class PrintedSeries(Model):
    """The cells of a column, by the numbers of another one."""

    table: str
    x: str
    y: str
    against: str | None = Field(default=None, description="the column by which `y` is divided")
    label: str | None = Field(default=None, min_length=1, description="else that of its series")
    where: dict[str, Value] = Field(default={}, description="column -> cell, of the rows meant")


class SweepSeries(Model):
    """One line of a sweep."""

    id: Name
    label: str = Field(min_length=1)
    points: list[Setting] = Field(min_length=1)
    against: list[Setting] | None = Field(
        default=None, min_length=1, description="points by which these are divided, block by block"
    )
    printed: PrintedSeries | None = None
    above: Name | None = Field(
        default=None, description="another series: how much steeper this one is, block by block"
    )


class Wire(Model):
    """What a frame takes on a wire: what a step adds at least that stores and forwards it."""

    payload: Name = Field(description="the factor, in bytes, that each series has one value of")
    overhead_bytes: int = Field(ge=0, description="of a frame around it, gaps included")
    link: Name | Annotated[Number, Field(gt=0)] = Field(
        description="bits per second, or the factor that has them, 0 where nothing is held"
    )


class Stated(Model):
    """What the source says that one way over one step takes."""

    text: str = Field(min_length=1)
    cell: Cell


class Per(Model):
    """A part of the factor along which a sweep goes, like the page of an area."""

    size: Number = Field(gt=0, description="of it, in the factor’s unit")
    word: str = Field(min_length=1)


class Sweep(Model):
    """Times along one factor, with what each step adds."""

    id: Name
    title: str = Field(min_length=1)
    text: str = Field(default="", description="what a reader must know of it, in sentences")
    experiment: Name
    over: Name = Field(description="the factor, a number")
    unit: TimeUnit | Literal["ratio"]
    per: Per | None = Field(
        default=None, description="times are divided by this unit of the factor"
    )
    ways: Literal[1, 2] = Field(default=1, description="2: a round trip makes each step twice")
    slopes: bool = Field(default=True, description="whether the page says what a step adds")
    speedup: bool = Field(
        default=False,
        description="ratios are `against`, one point, ÷ `points`: how many times as fast they are",
    )
    series: list[SweepSeries] = Field(min_length=1)
    wire: Wire | None = None
    stated: Stated | None = None


class Paper(Model):
    """data/published/<paper>/paper.yaml"""

    version: Version
    id: Name
    title: str
    gloss: str | None = Field(
        default=None, min_length=1, description="the title in English, where it is not"
    )
    title_is_ours: bool = Field(default=False, description="the source bears none")
    author: str
    date: str
    kind: str
    language: str
    url: Annotated[str, Field(pattern=r"^https?://[^\s\"'<>]+$")] | None = Field(
        description="where the source stands; null where that is not known"
    )
    url_note: str | None = Field(
        default=None, min_length=1, description="why `url` is null, or not the page itself"
    )
    read: Annotated[str, Field(pattern=r"^\d{4}-\d\d-\d\d$")] = Field(
        description="the day on which it was read for this folder"
    )
    thesis: Thesis | None = Field(
        default=None, description="of a paper with figures; the page leads with it"
    )
    remarks: list[Remark] = []
    answer: str = Field(description="what the source says, in our words, one sentence")
    caution: str | None = Field(
        default=None, min_length=1, description="what a reader must know before comparing anything"
    )
    conditions: dict[str, str] = Field(description="what the source states, or that it does not")
    question: Annotated[str, Field(pattern=r"\?$")] | None = Field(
        default=None, description="the title of its page; without it, the finding is the title"
    )
    budget_factor: Number = Field(
        default=1,
        ge=0.1,
        le=4,
        description="of the preset's budget, where its sizes take more or less time; not of tiny's",
    )
    shares: dict[Name, Annotated[Number, Field(gt=0)]] = Field(
        default={}, description="experiment -> its part of the budget beside the others'; else 1"
    )
    first: bool = Field(default=False, description="measured before all other papers")
    sizing: Sizing | None = None
    sweeps: list[Sweep] = Field(default=[], description="of figures whose quantity is a time")
    figures: list[Figure] = Field(default=[], description="none where all that it has is `open`")
    open: list[OpenFigure] = Field(default=[], description="figures without a rerun yet")
