"""What a paper's audit.yaml may say: which columns mean what, rule by rule; never a finding."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from benchbook.define.models import Model, Number, Version

Table = Annotated[str, Field(pattern=r"^[^/]+\.csv$")]
Where = Annotated[dict[str, str], Field(description="column -> cell, where not all rows are meant")]


class Cell(Model):
    """One cell: the row that `where` names."""

    table: Table
    value: str
    where: Where = Field(default={})


class Column(Model):
    """The cells of one column, each with the label of its row."""

    table: Table
    label: str
    value: str
    where: Where = Field(default={})


class Names(Model):
    """A column of labels."""

    table: Table
    label: str
    where: Where = Field(default={})


class Swept(Model):
    """A table with one column per setting, which stands in the column's name."""

    pattern: str = Field(description="of these columns; its first group is the setting")
    unit: str = Field(description="what the setting counts, in words")
    bytes_each: int = Field(ge=1, description="of memory needed, all buffers, per unit")
    buffers: int = Field(default=1, ge=1, description="that share this memory")


class Formula(Model):
    """In each row: result = times … ÷ divided_by …; columns, or numbers as constants."""

    tables: list[Table] = Field(min_length=1)
    label: str
    result: str
    times: list[str | Number] = Field(min_length=1)
    divided_by: list[str | Number] = Field(default=[])
    bytes_in: Literal["kB", "MB", "GB"] | None = Field(
        default=None, description="what is recomputed is in bytes, and the result in this unit"
    )


Term = Annotated[
    str | Number | Column,
    Field(description="a column of the row, a constant, or the same label's cell elsewhere"),
]


class Most(Model):
    """In each row: a value is at most, or at least, times … ÷ divided_by …."""

    table: Table
    label: str
    where: Where = Field(default={})
    values: list[str] = Field(min_length=1, description="columns, each bounded so")
    relation: Literal["at_most", "at_least"] = "at_most"
    times: list[Term] = Field(min_length=1)
    divided_by: list[Term] = Field(default=[])
    because: str = Field(min_length=1, description="why nothing can be beyond it, in words")


class Order(Model):
    """Columns that only rise, or only fall, with labels that are numbers."""

    table: Table
    label: str
    where: Where = Field(default={})
    values: list[str] = Field(min_length=1)
    direction: Literal["rise", "fall"]
    slack_percent: Number = Field(
        default=0, ge=0, lt=100, description="by which a step may go back: scatter of measuring"
    )
    because: str = Field(min_length=1, description="why a step back is odd, in words")


class Rows(Model):
    """A table of measurements, one row of cells per label."""

    table: Table
    label: str


class Spread(Model):
    """Printed (max − min) ÷ `over`, in percent, of all the numbers in a row."""

    of: Rows
    over: Literal["max", "min", "mean"] = "max"
    printed: Column


class Extreme(Model):
    """A printed largest, smallest or mean number of a row."""

    of: Rows
    which: Literal["max", "min", "mean"]
    printed: Column


class FromProse(Model):
    """What is stated in words, which may qualify themselves."""

    qualified: str | None = Field(
        default=None,
        min_length=1,
        description="what the source itself says that takes the edge off the statement: then a "
        "table that does not fit it is no disagreement",
    )


class Bound(FromProse):
    """A stated bound on spreads: all, or most (more than half), of them stay within it."""

    of: list[Rows] = Field(min_length=1)
    over: Literal["max", "min", "mean"] = "max"
    at_most_percent: Number = Field(gt=0)
    share: Literal["all", "most"]


class Same(Model):
    """Two columns that print one quantity, label by label."""

    first: Column
    second: Column


class Slope(FromProse):
    """What is stated that each step adds, against the slope of a table over labels that are
    numbers."""

    of: Column
    stated: Cell
    ways: int = Field(default=1, ge=1, description="how often what is printed makes each step")
    step: str = Field(min_length=1, description="a step in words, like `a switch`")


class Trend(Model):
    """How a difference is stated to be in some rows, beside that in one."""

    from_: str = Field(
        alias="from", description="label of the row that the others are compared with"
    )
    to: list[str] = Field(min_length=1)
    relation: Literal["smaller", "larger"]
    when: str = Field(min_length=1, description="what these rows have, like `with a switch`")


class Gap(FromProse):
    """The difference of two series, row by row, and what is stated of it."""

    first: Column
    second: Column
    stated: Trend


class Growth(FromProse):
    """Whether a series over labels that are numbers is stated to grow evenly."""

    of: Column
    stated: Literal["even", "uneven"]
    step: str = Field(min_length=1, description="a step in words, like `a switch`")


class Beyond(FromProse):
    """All other rows of a column are stated to lie on one side of the row with label `beside`."""

    of: Column
    beside: str
    relation: Literal["above", "below"]
    stated: str = Field(min_length=1, description="what the source states, as `that` goes on")


class Limit(Model):
    """Settings of a swept table against the memory that is stated."""

    table: Table
    available: Cell
    unit_bytes: list[int] = Field(
        min_length=1, description="bytes of one unit; several where the unit is ambiguous"
    )


class Outcome(Model):
    """A swept table, in which one setting should have one outcome."""

    table: Table


class Measured(Model):
    """A swept table, and what one time the reference is, in bytes per unit of its product."""

    table: Table
    times: list[Cell | Number] = Field(min_length=1, description="one buffer's reference, in bytes")


class Scenario(Model):
    """Announced settings, as multiples of a reference, against those measured."""

    announced: Column = Field(description="label: the relation in words; value: the multiple")
    relations: dict[str, Literal["below", "equal", "above"]]
    equal_within_percent: Number = Field(default=5, gt=0, lt=100)
    measured: list[Measured] = Field(min_length=1)


class Grouping(Model):
    """Tables that print numbers in groups of digits."""

    tables: list[Table] = Field(min_length=1)


class Labels(Model):
    """Columns whose labels name the same things in the same order."""

    columns: list[Names] = Field(min_length=2)


class Quantity(Model):
    """Columns that hold one quantity, whose units should go together."""

    quantity: str
    columns: dict[Table, list[str]] = Field(min_length=1)


class Theory(Model):
    """What printed rates could reach at most."""

    most: Cell = Field(description="its column has a unit of rates")
    rates: dict[Table, list[str]] = Field(min_length=1, description="columns that it bounds")


class Conversion(Model):
    """A program that prints bytes per microsecond × factor, counting whole microseconds."""

    factor: Cell = Field(description="its column has the unit that the program prints")
    bytes: Cell = Field(description="moved between two readings of the clock")
    rates: dict[Table, list[str]] = Field(min_length=1, description="columns that it printed")
    theory: list[Theory] = Field(
        default=[],
        description="of what the shares are, as printed and as they are",
    )


class Called(Model):
    """What sentences call a table, and what the source prints over it."""

    name: str = Field(min_length=1, description="as after `in`, like `the table of rates`")
    heading: str = Field(default="", description="in the source’s own words")


class Audit(Model):
    """data/published/<paper>/audit.yaml"""

    version: Version
    tables: dict[Table, Called] = Field(default={})
    exact: dict[Table, list[str]] = Field(
        default={}, description="columns of counts and settings, which no rounding touched"
    )
    decimals: dict[Table, int] = Field(
        default={}, description="places that a source rounds to before it drops trailing zeros"
    )
    swept: dict[Table, Swept] = Field(default={})
    formula: list[Formula] = Field(default=[])
    spread: list[Spread] = Field(default=[])
    extreme: list[Extreme] = Field(default=[])
    bound: list[Bound] = Field(default=[])
    same: list[Same] = Field(default=[])
    most: list[Most] = Field(default=[])
    order: list[Order] = Field(default=[])
    slope: list[Slope] = Field(default=[])
    gap: list[Gap] = Field(default=[])
    growth: list[Growth] = Field(default=[])
    beyond: list[Beyond] = Field(default=[])
    limits: list[Limit] = Field(default=[])
    outcomes: list[Outcome] = Field(default=[])
    scenarios: list[Scenario] = Field(default=[])
    grouping: list[Grouping] = Field(default=[])
    labels: list[Labels] = Field(default=[])
    units: list[Quantity] = Field(default=[])
    conversion: list[Conversion] = Field(default=[])
