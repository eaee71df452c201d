"""The machine measured: topology, memory, compilers, tools."""
