"""The lines of small programs that load databases; readers/database_programs.py uses them."""

from __future__ import annotations

from benchbook.explain.lazy_regex import late
from benchbook.explain.readers.common.storage_lines import Figure, Program, Row

_N = r"\d[\d,]*(?:\.\d+)?"
_ALL = "time for all queries"

PROGRAMS = (
    Program(
        "mysqlslap",
        ("seconds to run all queries",),
        (
            Row(
                late(rf"^Average number of seconds to run all queries: (?P<v>{_N}) seconds$"),
                (Figure("v", _ALL, "s", "mean"),),
            ),
            Row(
                late(rf"^Minimum number of seconds to run all queries: (?P<v>{_N}) seconds$"),
                (Figure("v", _ALL, "s", "min"),),
            ),
            Row(
                late(rf"^Maximum number of seconds to run all queries: (?P<v>{_N}) seconds$"),
                (Figure("v", _ALL, "s", "max"),),
            ),
            Row(
                late(r"^Number of clients running queries: (?P<concurrency>\d{1,9})$"),
                facts=("concurrency",),
            ),
            Row(
                late(r"^Average number of queries per client: (?P<queries_each>\d{1,12})$"),
                facts=("queries_each",),
            ),
        ),
    ),
    Program(
        "hammerdb",
        (" NOPM", "NOPM ", " tpm"),
        (
            Row(
                late(
                    rf"^\W{{0,4}}(?P<v>{_N}) (?:PostgreSQL|MySQL|MariaDB|Oracle|MSSQLServer|"
                    r"Db2|DB2|Redis) tpm\W{0,4}$"
                ),
                (Figure("v", "transactions", "transactions/min", "interval"),),
            ),
            Row(
                late(r"(?:^|:)(?P<users>\d{1,6}) Active Virtual Users configured\b"),
                facts=("users",),
            ),
            Row(
                late(
                    rf"System achieved (?P<orders>{_N}) NOPM (?:from|at) (?P<all>{_N}) "
                    r"[\w ]{0,30}TPM\b"
                ),
                (
                    Figure("orders", "new orders", "orders/min"),
                    Figure("all", "transactions", "transactions/min"),
                ),
            ),
            Row(
                late(rf"System achieved (?P<all>{_N}) [\w ]{{0,30}}TPM at (?P<orders>{_N}) NOPM\b"),
                (
                    Figure("orders", "new orders", "orders/min"),
                    Figure("all", "transactions", "transactions/min"),
                ),
            ),
        ),
    ),
    Program(
        "tpcc-mysql",
        (" TpmC",),
        (Row(late(rf"^(?P<v>{_N}) TpmC$"), (Figure("v", "new orders", "orders/min"),)),),
    ),
    Program(
        "redis-cli",
        (" samples)", "Max latency so far"),
        (
            Row(
                late(
                    rf"^min: (?P<min>{_N}), max: (?P<max>{_N}), avg: (?P<mean>{_N}) "
                    r"\((?P<repetitions>\d{1,12}) samples\)"
                ),
                (
                    Figure("min", "round trip", "ms", "min"),
                    Figure("max", "round trip", "ms", "max"),
                    Figure("mean", "round trip", "ms", "mean"),
                ),
                facts=("repetitions",),
            ),
            Row(
                late(
                    r"^(?P<count>\d{1,12}) total runs "
                    rf"\(avg latency: (?P<mean>{_N}) microseconds /"
                ),
                (Figure("mean", "pause", "us", "mean"),),
            ),
        ),
    ),
)
