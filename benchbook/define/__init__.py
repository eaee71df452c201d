"""Typed definitions out of YAML: settings, experiments, papers, points."""
