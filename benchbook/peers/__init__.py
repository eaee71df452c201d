"""Programs of other people: how they are started, and how what they print is read."""
