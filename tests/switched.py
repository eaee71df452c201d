"""What a scene of test_switches does in a network namespace of its own, started by `unshare`.

    switched.py frames|datagrams|idle PROGRAM SWITCHES ARGUMENTS... < sent.json > came.json

The hosts `left` and `right`, and a chain of emulated switches between them. What is sent and what
came are lists of [side, bytes in hexadecimal]. A numbered mark from either side, sent until it
arrives, tells that nothing is under way any more; what a kernel sends by itself is left out.
"""

import ctypes
import json
import os
import select
import socket
import subprocess
import sys
import time
from pathlib import Path

OTHER = {"left": "right", "right": "left"}
ADDRESS = {"left": "10.77.0.1", "right": "10.77.0.2"}
PORT = 9
MADE_UP = bytes.fromhex("02be")  # begins the sender's address of all that counts
MARK = bytes.fromhex("ffffffffffff02bf0000000088b5")
PATIENCE_S = 120  # a loaded machine may take its time
AGAIN_S = 1
SOL_PACKET, PACKET_AUXDATA, PACKET_IGNORE_OUTGOING = 263, 8, 23
ETH_P_ALL, TAG_IS_VALID, CLONE_NEWNET = 3, 0x10, 0x40000000
LIBC = ctypes.CDLL(None, use_errno=True)


def ip(*words: str) -> None:
    subprocess.run(["ip", *words], check=True)


def make_chain(switches: int) -> None:
    """left - s1a, s1b - s2a, ... - right; IPv6 would send unasked."""
    without_ipv6 = Path("/proc/sys/net/ipv6/conf/default/disable_ipv6")
    if without_ipv6.exists():
        without_ipv6.write_text("1")
    ends = ["left", *(f"s{i}{side}" for i in range(1, switches + 1) for side in "ab"), "right"]
    for near, far in zip(ends[::2], ends[1::2], strict=True):
        ip("link", "add", near, "type", "veth", "peer", "name", far)
    for end in ends:
        ip("link", "set", end, "mtu", "9000", "up")


def tap(side: str) -> socket.socket:
    opened = socket.socket(socket.AF_PACKET, socket.SOCK_RAW, 0)
    opened.setsockopt(SOL_PACKET, PACKET_AUXDATA, 1)
    opened.setsockopt(SOL_PACKET, PACKET_IGNORE_OUTGOING, 1)
    opened.bind((side, ETH_P_ALL))
    return opened


def receive(opened: socket.socket) -> bytes:
    """A frame as it was on the link: the kernel gives a tag beside it."""
    frame, beside, _, _ = opened.recvmsg(65536, 256)
    for level, kind, data in beside:
        if (level, kind) == (SOL_PACKET, PACKET_AUXDATA):
            number = [int.from_bytes(data[at : at + 2], sys.byteorder) for at in range(0, 20, 2)]
            if number[0] & TAG_IS_VALID:
                tag = b"".join(number[at].to_bytes(2, "big") for at in (9, 8))
                frame = frame[:12] + tag + frame[12:]
    return frame


def exchange(sent: list[list[str]]) -> dict[str, object]:
    """Send the frames; all that came, and how many marks did not."""
    taps = {side: tap(side) for side in OTHER}
    sides = {opened: side for side, opened in taps.items()}
    marks = dict.fromkeys(OTHER, 0)
    came: list[tuple[str, str]] = []
    senders = {side: taps.get(side) or tap(side) for side, _ in sent}
    start_s = time.monotonic()
    for side, frame in sent:
        senders[side].send(bytes.fromhex(frame))
    waiting = set(OTHER)  # sides that were not reached yet
    marks_came = 0
    again_s = 0.0
    while waiting and time.monotonic() - start_s < PATIENCE_S:
        if time.monotonic() >= again_s:
            for side in waiting:
                marks[side] += 1
                taps[OTHER[side]].send(MARK + marks[side].to_bytes(4, "big"))
            again_s = time.monotonic() + AGAIN_S
        for opened in select.select(taps.values(), [], [], 0.05)[0]:
            frame, side = receive(opened), sides[opened]
            if frame.startswith(MARK):
                marks_came += 1
                if frame[len(MARK) :][:4] == marks[side].to_bytes(4, "big"):
                    waiting.discard(side)
            elif frame[6:8] == MADE_UP:
                came.append((side, frame.hex()))
    took_s = time.monotonic() - start_s
    return {"came": came, "marks_lost": sum(marks.values()) - marks_came, "took_s": took_s}


def enter(namespace: int) -> None:
    if LIBC.setns(namespace, CLONE_NEWNET) != 0:
        raise OSError(ctypes.get_errno(), "setns")


def new_namespace() -> int:
    """A new network namespace, which this process does not stay in."""
    here = os.open("/proc/self/ns/net", os.O_RDONLY)
    if LIBC.unshare(CLONE_NEWNET) != 0:
        raise OSError(ctypes.get_errno(), "unshare")
    there = os.open("/proc/self/ns/net", os.O_RDONLY)
    enter(here)
    return there


def host(side: str) -> socket.socket:
    """Its socket, which stays in the namespace that it was made in."""
    ip("address", "add", f"{ADDRESS[side]}/24", "dev", side)
    ip("link", "set", side, "up")
    opened = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    opened.bind((ADDRESS[side], PORT))
    opened.settimeout(PATIENCE_S)
    return opened


def converse(sent: list[list[str]]) -> dict[str, object]:
    """Datagrams between two hosts, one after the other."""
    here = os.open("/proc/self/ns/net", os.O_RDONLY)
    there = new_namespace()
    ip("link", "set", "right", "netns", f"/proc/{os.getpid()}/fd/{there}")
    sockets = {"left": host("left")}
    enter(there)
    sockets["right"] = host("right")
    enter(here)
    came = []
    for side, data in sent:
        sockets[side].sendto(bytes.fromhex(data), (ADDRESS[OTHER[side]], PORT))
        came.append((OTHER[side], sockets[OTHER[side]].recv(65536).hex()))
    return {"came": came}


def fall_asleep(pid: int) -> None:
    limit_s = time.monotonic() + PATIENCE_S
    while Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "S":
        if time.monotonic() > limit_s:
            raise TimeoutError("the switches never sleep")
        time.sleep(0.05)


def main(scene: str, *command: str) -> None:
    """Play one scene."""
    make_chain(int(command[1]))
    pipe = subprocess.PIPE
    with subprocess.Popen(command, stdin=pipe, stdout=pipe) as started:
        pid = int(started.stdout.readline())
        if scene == "idle":
            fall_asleep(pid)
        sent = json.load(sys.stdin)
        seen = converse(sent) if scene == "datagrams" else exchange(sent)
        counts, _ = started.communicate(timeout=PATIENCE_S)
    json.dump({**seen, **json.loads(counts)}, sys.stdout)


if __name__ == "__main__":
    main(*sys.argv[1:])
