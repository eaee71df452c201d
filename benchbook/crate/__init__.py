"""Archives of measured runs as Workflow Run RO-Crates: written, verified, and read from others."""
