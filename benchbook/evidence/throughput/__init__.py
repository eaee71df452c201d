"""How much goes through a network: what iperf3 prints at both ends, beside what the kernels count.

Nothing here is compared with our own round trips: it is measured once, outside their blocks.
"""

SOURCE = "iperf3"
COUNTED = "kernel counters"
NEAR, FAR = "near", "far"  # the sender in host A, the receiver in host B
