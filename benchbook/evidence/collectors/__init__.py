"""One module per source of evidence; found by wildcard."""
