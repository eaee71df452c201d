"""Cache simulation by cachegrind: what stands in where a machine shows no counters.

A twin of a variant is started twice, once without and once with one call of the timed function,
and the difference is that call's: the simulation gives the same misses each time. Caches are empty
of the buffers before it, so a miss of the last level is a line that the call touches, once.
"""
