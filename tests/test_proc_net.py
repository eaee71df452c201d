"""Counters of a network namespace, out of files as Linux writes them."""

from __future__ import annotations

from pathlib import Path

import pytest

import kernels
from kernels import COMMON

# FILE, then PROTOCOL and NAME, or an interface alone: what it found, or "none".
PROGRAM = r"""
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include "proc_net.h"

int main(int argc, char **argv) {
    const int file = open(argv[1], O_RDONLY);
    struct proc_net_traffic traffic;
    uint64_t value;
    if (argc == 4 && proc_net_count(file, argv[2], argv[3], &value)) {
        printf("%" PRIu64, value);
    } else if (argc == 3 && proc_net_traffic(file, argv[2], &traffic)) {
        printf("%" PRIu64 " %" PRIu64 " %" PRIu64 " %" PRIu64, traffic.received_packets,
               traffic.received_drops, traffic.sent_packets, traffic.sent_drops);
    } else {
        printf("none");
    }
}
"""

SNMP = """\
Ip: Forwarding DefaultTTL InReceives
Ip: 1 64 18446744073709551615
Tcp: RtoAlgorithm MaxConn InSegs RetransSegs
Tcp: 1 -1 77 5
Udp: InDatagrams NoPorts InErrors RcvbufErrors
Udp: 10 20 30 40
UdpLite: InDatagrams RcvbufErrors
UdpLite: 0 99
"""

DEV = """\
Inter-|   Receive                                                |  Transmit
 face |bytes    packets errs drop fifo frame compressed multicast|bytes    packets errs drop fifo
    lo:     100       2    0    3    0     0          0         0      100       4    0    5    0
veth10: 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16
 veth1:11 12 13 14 15 16 17 18 19 20 21 22 23 24 25 26
"""


@pytest.fixture(scope="module")
def program(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("proc_net")
    (folder / "main.c").write_text(PROGRAM)
    flags = ("-O1", "-fsanitize=address,undefined", "-fno-sanitize-recover=all")
    objects = [
        kernels.compiled(source, *flags) for source in (folder / "main.c", COMMON / "proc_net.c")
    ]
    return kernels.linked(folder / "main", *objects, flags=flags)


def found(program: Path, text: str, *asked: str) -> str:
    file = program.with_name("file")
    file.write_text(text)
    return kernels.run(program, str(file), *asked).stdout


def test_a_counter_is_found_by_protocol_and_name(program: Path) -> None:
    assert found(program, SNMP, "Udp", "RcvbufErrors") == "40"
    assert found(program, SNMP, "Udp", "InDatagrams") == "10"
    assert found(program, SNMP, "UdpLite", "RcvbufErrors") == "99"
    assert found(program, SNMP, "Ip", "InReceives") == "18446744073709551615"
    assert found(program, SNMP, "Tcp", "RetransSegs") == "5"


def test_what_is_not_counted_is_none(program: Path) -> None:
    for name in ("Rcvbuf", "RcvbufErrorsToo", "RetransSegs", ""):
        assert found(program, SNMP, "Udp", name) == "none"
    assert found(program, SNMP, "Ud", "InDatagrams") == "none"
    for text in ("", "Udp: A B\n", "Udp: A B\nUdp: 1\n", "Udp: B", "\n\n"):
        assert found(program, text, "Udp", "B") == "none"


def test_an_interface_is_found_by_its_whole_name(program: Path) -> None:
    assert found(program, DEV, "lo") == "2 3 4 5"
    assert found(program, DEV, "veth1") == "12 14 20 22"
    assert found(program, DEV, "veth10") == "2 4 10 12"
    for name in ("veth", "eth1", "face |bytes"):
        assert found(program, DEV, name) == "none"


def test_a_large_file_is_read_whole(program: Path) -> None:
    many = "".join(f" other{i}: 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16\n" for i in range(800))
    assert found(program, many + DEV, "veth1") == "12 14 20 22"
