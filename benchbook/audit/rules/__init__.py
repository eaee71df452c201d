"""The rules of the audit, one file each, found by wildcard."""
