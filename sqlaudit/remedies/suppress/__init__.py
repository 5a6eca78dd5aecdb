"""Which cells become `*` so that a release is safe: the exact programs, a fast way, and bounds."""
