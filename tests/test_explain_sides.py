"""Two sides of one log that nobody compares: said with what differs, and not where nothing does."""

from __future__ import annotations

import pytest

from benchbook.explain import explanation, readers
from benchbook.explain.api import Machine, of_content
from benchbook.explain.readers.common.storage_lines import PROGRAMS
from benchbook.explain.rules import rules


def notes_of(text: str) -> str:
    explained = of_content("log", text.encode(), Machine())
    assert not explained.trouble
    return "\n".join([*explained.notes, *(own.explanation for own in explained.findings)])


def dd(rate: str, took: str, command: str = "of=a.bin bs=1M count=100") -> str:
    return (
        f"$ dd if=/dev/zero {command}\n100+0 records in\n100+0 records out\n"
        f"104857600 bytes (105 MB, 100 MiB) copied, {took} s, {rate}\n"
    )


def pgbench(rate: float, latency: float) -> str:
    return (
        "transaction type: <builtin: select only>\nscaling factor: 1\nquery mode: simple\n"
        "number of clients: 1\nnumber of threads: 1\nduration: 5 s\n"
        f"number of transactions actually processed: {5 * rate:.0f}\n"
        f"latency average = {latency} ms\ntps = {rate} (including connections establishing)\n"
    )


WRK = (
    "Running 25s test @ http://10.0.0.1:8083/\n  10 threads and 60 connections\n"
    "  Thread Stats   Avg      Stdev     Max   +/- Stdev\n"
    "    Latency     {latency}ms    0.51ms  9.43ms   79.82%\n"
    "    Req/Sec     1.0k     0.90k    2.20k    66.14%\n"
    "  249415 requests in 25.00s, 32.70MB read\nRequests/sec:  {rate}\nTransfer/sec:     1.30MB\n"
)
FENCED = "{}\n\n```\n{}```\n"
FIO = (
    "   READ: bw={0}MiB/s ({0}MB/s), {0}MiB/s-{0}MiB/s ({0}MB/s-{0}MB/s), io={1}, "
    "run=120002-120002msec\n"
)
HOST, INNER = dd("350 MB/s", "0.3"), dd("3.5 MB/s", "30")
SAID = "They differ in "


@pytest.mark.parametrize(
    ("text", "words"),
    [  # titles, sentences and lists above a fence, and commands without a title
        (
            f"**Test 1: on the host**\n{HOST}\n**Test 2: on a mount**\n{INNER}",
            f"{SAID}“on a mount” against “on the host”",
        ),
        (
            FENCED.format("", HOST) + FENCED.format("Now in the container, which is slow:", INNER),
            f"{SAID}“Now in the container, which is slow” above line",
        ),
        (
            dd("1.7 GB/s", "0.06", "of=/dev/sdb") + dd("832 MB/s", "0.126", "of=/mnt/b"),
            f"{SAID}“of=/mnt/b” against “of=/dev/sdb” in the command",
        ),
        (
            f"$ pgbench -h db -S x\n{pgbench(740.1, 1.351)}"
            f"$ pgbench -p 5433 -h db -S x\n{pgbench(9003.2, 0.111)}",
            "“-p 5433” in the command of line 20",
        ),
        (
            "// Ubuntu 18.04 / Linux 5.4.0:\nRun status group 0 (all jobs):\n"
            + FIO.format(23.5, "2821MiB")
            + "\n// Ubuntu 18.04 / Linux 5.17:\nRun status group 0 (all jobs):\n"
            + FIO.format(244, "28.6GiB"),
            "9.63 % of the 244 MiB/s of line 7 (10.4 times apart)",
        ),
        (
            "### SSD -> SSD\n$ rsync --info=progress2 a b/\n"
            " 18,199,210,856 100%  409.03MB/s    0:00:42 (xfr#1, to-chk=0/1)\n"
            "### SSD -> ZFS\n$ rsync --info=progress2 a c/\n"
            " 18,199,210,856 100%   12.65MB/s    0:22:52 (xfr#1, to-chk=0/1)\n",
            "“SSD -> ZFS” against “SSD -> SSD” and “c/” against “b/” in the command",
        ),
        (
            "Before:\n" + WRK.format(latency=6.1, rate=9803.25)
            + "\nAfter:\n" + WRK.format(latency=5.0, rate=11939.5),
            "Repeat both in turns with only one thing changed",
        ),
        (
            "Before:\n" + WRK.format(latency=6.1, rate=9803.25)
            + "\nAfter:\n" + WRK.format(latency=6.0, rate=9939.5),
            "1.4 % apart by one run each",
        ),
    ],
)  # fmt: skip
def test_sides_are_compared(text: str, words: str) -> None:
    assert words in notes_of(text), notes_of(text)


@pytest.mark.parametrize(
    "text",
    [
        f"**Run 1:**\n{HOST}\n**Run 2:**\n{INNER}",  # only a number differs
        f"{HOST}\n[sudo] password for x:\n{INNER}",  # a prompt is no title
        HOST + dd("35 MB/s", "3", "of=a.bin bs=4k count=25600"),  # blocks of another size
        f"### Sequential read\n{HOST}### Random read\n{INNER}",  # other work
        # A title above the first only may be that of both.
        FENCED.format("Now in the container, which is slow:", INNER) + FENCED.format("", HOST),
        "Before:\n" + WRK.format(latency=6.1, rate=9803.25)
        + "\nAfter:\n" + WRK.format(latency=6.1, rate=9803.25).replace("60 conn", "30 conn"),
    ],
)  # fmt: skip
def test_what_is_no_side_is_not_compared(text: str) -> None:
    assert SAID not in notes_of(text)


H2LOAD = """$ h2load https://db:8443/ -n {count} -c 10
finished in 661.88ms, 1510.84 req/s, 16.88KB/s
requests: {count} total, {count} started, {count} done, {count} succeeded, 0 failed, 0 errored, 0 timeout
status codes: {count} 2xx, 0 3xx, 0 4xx, 0 5xx
                     min         max         mean         sd        +/- sd
time for request:       45us       299us        89us        26us    79.00%
time for connect:    10.28ms    649.25ms    213.57ms    192.17ms    70.00%
"""  # noqa: E501
AB = """Concurrency Level:      100
Time taken for tests:   6.60 seconds
Complete requests:      100000
Failed requests:        0
{kept}Requests per second:    15140.92 [#/sec] (mean)

Connection Times (ms)
              min  mean[+/-sd] median   max
Connect:        0    {connect}   0.4      3       4
Processing:     1    4   0.8      4      12
Waiting:        1    3   0.8      3      11
Total:          1    7   0.7      6      12
"""


@pytest.mark.parametrize(
    ("text", "is_said"),
    [
        (H2LOAD.format(count=1000), True),
        (H2LOAD.format(count=100000), False),  # 10,000 requests on each connection
        (AB.format(connect=3, kept=""), True),
        (AB.format(connect=1, kept=""), False),
        (AB.format(connect=3, kept="Keep-Alive requests:    99000\n"), False),
    ],
)
def test_connecting_as_a_part_of_a_load(text: str, is_said: bool) -> None:
    assert ("connecting" in notes_of(text).replace("connecting and TLS", "")) == is_said


FIO_WRITE = "  write: IOPS=146, BW=147MiB/s (154MB/s)(5120MiB/34894msec)\n"
JOB = "$ fio --name=t --direct=1 --bs=1m --rw=write{}\n"
ZEROS = dd("480 MB/s", "0.21", "of=t bs=1M oflag=direct")


@pytest.mark.parametrize(
    ("text", "is_said"),
    [
        (ZEROS + JOB.format("") + FIO_WRITE, True),
        (ZEROS + JOB.format(" --zero_buffers") + FIO_WRITE, False),
        (ZEROS.replace("/dev/zero", "/dev/urandom") + JOB.format("") + FIO_WRITE, False),
    ],
)
def test_zeros_next_to_random_data(text: str, is_said: bool) -> None:
    assert ("dd wrote zeros at 480 MB/s" in notes_of(text)) == is_said


RADOS = """Maintaining {0} concurrent writes of 4194304 bytes to objects of size 4194304 for up to 30 seconds or 0 objects
  sec Cur ops   started  finished  avg MB/s  cur MB/s last lat(s)  avg lat(s)
    1     511       772       261   1043.68      2804    0.602092    0.623632
    2     511      1573      1062   2123.42      2816    0.659609    0.628934
    3     511      2312      1801    2400.7      2820    0.695258    0.645583
"""  # noqa: E501


@pytest.mark.parametrize(("count", "is_said"), [(512, True), (4, False)])
def test_latency_of_a_fixed_number_of_requests(count: int, is_said: bool) -> None:
    words = "with 512 requests always under way at 704 a second each takes about 727 ms"
    assert (words in notes_of(RADOS.format(count))) == is_said


NAMED = """load.{0}.latency_average: 13.7 ms
load.{0}.run_duration: 10.1 s
load.{1}.latency_average: 14.9 ms
load.{1}.run_duration: 14.2 s
"""


@pytest.mark.parametrize(
    ("names", "is_said"), [(("root", "child"), True), (("read", "write"), False)]
)
def test_names_with_another_word(names: tuple[str, str], is_said: bool) -> None:
    assert ("2 figures are there for “child” and for “root”" in notes_of(NAMED.format(*names))) == (
        is_said
    )


IPERF = """$ iperf3 -c 192.168.127.2 {}
Connecting to host 192.168.127.2, port 5201
[  5] local 192.168.128.2 port 39334 connected to 192.168.127.2 port 5201
[ ID] Interval           Transfer     Bitrate         Retr  Cwnd
[  5]   0.00-1.00   sec   896 KBytes  7.34 Mbits/sec    0    122 KBytes
[  5]   1.00-2.00   sec   896 KBytes  7.34 Mbits/sec    0    122 KBytes
[  5]   2.00-3.00   sec   896 KBytes  7.34 Mbits/sec    0    122 KBytes
"""


@pytest.mark.parametrize(
    ("options", "is_said"), [("--fq-rate 8M", True), ("-b 100M", False), ("-t 3", False)]
)
def test_a_rate_that_an_option_limits(options: str, is_said: bool) -> None:
    assert ("So that option holds the rate" in notes_of(IPERF.format(options))) == is_said


def test_a_slow_second_read_is_not_from_the_page_cache() -> None:
    read = "$ dd if=a.bin of=/dev/null bs=1M\n104857600 bytes (105 MB) copied, {} s, {}\n"
    words = "read of a.bin from the page cache"
    assert words not in notes_of(HOST + read.format("0.437", "240 MB/s"))
    assert words in notes_of(HOST + read.format("0.035", "3.0 GB/s"))


CURL = """    time_namelookup:  {0}
       time_connect:  {1}
    time_appconnect:  {2}
   time_pretransfer:  {2}
      time_redirect:  0.000
 time_starttransfer:  {3}
                    ----------
         time_total:  {4}
"""


@pytest.mark.parametrize(
    ("times", "words"),
    [
        ((3.523, 3.524, 3.555, 3.58, 3.581), "3.52 s are the look-up of the name"),
        ((0.004, 0.027, 0.412, 0.59, 0.601), "385 ms are the handshake of TLS"),
        ((0.004, 0.027, 0.052, 6.59, 6.601), "6.54 s are the wait for the first byte"),
        ((0.004, 0.027, 0.052, 0.09, 6.601), "6.51 s are the transfer"),
        ((0.004, 0.027, 0.052, 0.0, 6.601), "no byte of an answer came (0). So"),
        ((0.004, 4295.04, 4295.04, 4295.1, 4295.12), "are 2³² µs and 153 ms"),
        ((0.1, 0.2, 0.3, 0.4, 0.5), ""),  # no step has most of it
        ((0.001, 0.002, 0.003, 0.02, 0.021), ""),  # too short to matter
    ],
)
def test_steps_of_a_request(times: tuple[float, ...], words: str) -> None:
    said = notes_of(CURL.format(*times))
    assert words in said if words else not said, said


def test_readers_name_rules_that_compare_runs_of_their_tools() -> None:
    assert set(readers.comparers().values()) - {"own"} <= {rule.name for rule in rules()}
    tools = {*explanation.looked_for(), *(program.tool for program in PROGRAMS)}
    assert readers.comparers().keys() <= tools
