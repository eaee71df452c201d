"""The commands of `benchbook`, one file each."""
