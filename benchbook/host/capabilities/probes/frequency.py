"""Whether the frequency of a CPU can be read while it runs."""

from __future__ import annotations

from collections.abc import Iterator

from benchbook.host import facts
from benchbook.host.capabilities.place import Capability, Place, able, as_root
from benchbook.host.topology import CPUS, read_topology

NAMES = ("frequency",)
PROGRAMS = ()
FILES = ("sys/devices/system/cpu/cpu0/cpufreq/scaling_driver",)


def look(place: Place) -> Iterator[Capability]:
    """The frequency of every usable CPU: of fewer it is of no use."""
    ids = [cpu.id for cpu in read_topology(place.machine).cpus]
    read = {cpu: facts.frequency_khz(cpu, place.machine) for cpu in ids}
    readable = [khz for khz in read.values() if khz is not None]
    lacking = next((cpu for cpu, khz in read.items() if khz is None), None)
    if readable and lacking is None:
        sentence = f"now {min(readable) / 1e6:.2f} to {max(readable) / 1e6:.2f} GHz"
        yield able("frequency", sentence)
        return
    file = f"{CPUS}/cpu{lacking or 0}/cpufreq/scaling_cur_freq"
    if (place.machine / file).exists():
        yield Capability("frequency", "denied", f"/{file} cannot be read")
        return
    if place.guest:
        yield Capability("frequency", "absent", f"the hypervisor shows no frequency (no /{file})")
        return
    reason = f"no driver reports the frequency (no /{file})"
    yield Capability("frequency", "absent", reason, as_root("modprobe acpi-cpufreq"))
