"""What every stage uses: files, units, sizes, number format, processes."""
