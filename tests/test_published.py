"""The published tables equal the source, cell by cell."""

from __future__ import annotations

from typing import Any

from conftest import ROOT

from benchbook.audit import audit
from benchbook.core.files import read_json
from benchbook.define import catalogue, published
from benchbook.define.published import read_table

PUBLISHED = ROOT / "data" / "published"

# Transcribed by hand, then held against the source again, by other eyes or by a parser of its text;
# the checksum is over all cells in reading order.
CELLS = {
    "e7udpip-latency/columns.csv": (12, "2cef120bc20d428e"),
    "e7udpip-latency/hosts.csv": (18, "866d9cd458b603ae"),
    "e7udpip-latency/links.csv": (50, "962d19697210412e"),
    "e7udpip-latency/round_trips.csv": (50, "319b555c80e94cab"),
    "e7udpip-latency/statements.csv": (20, "e560593ca620aaac"),
    "slocum2013-mbw/mbw-1.2.2-b4096-8.csv": (12, "d959679a709e6947"),
    "slocum2013-mbw/mbw-1.3.0-b4096-8.csv": (12, "24d4de14a5de7c11"),
    "slocum2013-mbw/mbw-32.csv": (12, "2aa4a1f36abad923"),
    "slocum2013-mbw/mbw-b4096-32.csv": (12, "e491495f5fef63a0"),
    "spursengine-pcie/both-ways.csv": (18, "86bf8db654a5b7ec"),
    "spursengine-pcie/columns.csv": (36, "d54b7ce3e27db0f3"),
    "spursengine-pcie/one-way.csv": (15, "4ae36a1c3bd71c86"),
    "spursengine-pcie/program.csv": (3, "36446d5706b9fa52"),
    "spursengine-pcie/theory.csv": (6, "3c20f749038ab263"),
    "ssscore/adsm.csv": (56, "f4c4d15dbec493d2"),
    "ssscore/columns.csv": (196, "e5c66390ac514d63"),
    "ssscore/environment.csv": (170, "fa1d1a2ea2047a88"),
    "ssscore/fast-bandwidth.csv": (18, "046d01c015655180"),
    "ssscore/fast-latency.csv": (20, "6ab57c98c4df3983"),
    "ssscore/gigabit-bandwidth.csv": (18, "2474c0da6ee38f1b"),
    "ssscore/gigabit-latency.csv": (15, "b8c612768303cbb1"),
    "ssscore/links.csv": (6, "c8d6d39b934fed84"),
    "ssscore/memory.csv": (30, "c0fa37b76f238bb5"),
    "ssscore/mpi-bandwidth.csv": (32, "8e7a3797d8d795d9"),
    "ssscore/mpi-round-trip.csv": (21, "d4d03682b8065512"),
    "ssscore/nas.csv": (84, "769a383d158d1751"),
    "ssscore/rpc.csv": (16, "592fc2bd953f1b07"),
    "ssscore/task-identity.csv": (6, "293fb415f2d3c979"),
    "stream-array-size/columns.csv": (184, "e82ad92c09e0686e"),
    "stream-array-size/deviations.csv": (32, "395d7a4393a09326"),
    "stream-array-size/environment.csv": (14, "131e42b64979ef91"),
    "stream-array-size/formula_examples.csv": (26, "6d6ea6f8a9ed210e"),
    "stream-array-size/physical.csv": (60, "81a22e0083a1162c"),
    "stream-array-size/scenarios.csv": (9, "08c2659582fe1522"),
    "stream-array-size/summary.csv": (12, "035842f9f689d051"),
    "stream-array-size/virtual.csv": (36, "e20226ae0971ea22"),
}


def test_cells_are_those_that_were_transcribed() -> None:
    found = {}
    for path in PUBLISHED.glob("*/*.csv"):
        paper, table = path.parent.name, path.name
        found[f"{paper}/{table}"] = published.checksum(read_table(ROOT, paper, table))
    beside = {
        f"{path.parent.name}/{table}": tuple(cells)
        for path in PUBLISHED.glob(f"*/{published.CELLS}")
        for table, cells in read_json(path)["tables"].items()
    }
    assert found == CELLS | beside


def test_every_row_of_every_table_is_in_a_figure() -> None:
    for paper in catalogue.papers(ROOT):
        audited = audit(ROOT, paper)
        named: dict[str, set[Any]] = {}
        for figure in catalogue.paper(ROOT, paper)["figures"]:
            table = figure["table"]
            series = [*figure["select"], *figure.get("ranges", [])]
            rows = {tuple(curve["row"].items()) for curve in series}
            if "recomputed" in figure:  # its rows are numbers of the audit
                checks = [check for check in audited if check["table"] == table]
                rows = {cell["row"] for check in checks for cell in check["cells"]}
            named.setdefault(table, set()).update(rows)
        for table, rows in named.items():
            assert len(rows) == len(read_table(ROOT, paper, table)), table


def test_columns_keep_the_labels_that_are_printed() -> None:
    """`as_1=4000 000 0000` is column `as_1_40000000000_mb_per_s`: spaces alone are left out."""
    for path in PUBLISHED.glob("*/columns.csv"):
        printed = read_table(ROOT, path.parent.name, path.name)
        for table in {row["table"] for row in printed}:
            columns = list(read_table(ROOT, path.parent.name, table)[0])
            named = [row["column"] for row in printed if row["table"] == table]
            assert named == [column for column in columns if column in named]
            sizes = {row["column"]: row["printed"] for row in printed if row["table"] == table}
            for column in columns:
                if column.startswith("as_"):
                    label = sizes[column].replace(" ", "").replace("=", "_")
                    assert column == f"{label}_mb_per_s"
