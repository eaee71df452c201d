"""What surrounds the figures of a log: runs, totals, machines, quoted rates."""
