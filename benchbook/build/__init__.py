"""Build: kernel source, compiler and flags become one binary per variant."""
