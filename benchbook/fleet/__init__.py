"""Several kinds of nodes, each a host: measured by a Slurm job each, in a checkout of its own."""
