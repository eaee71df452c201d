"""One module per artefact; found by wildcard."""
