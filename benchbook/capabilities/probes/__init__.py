"""Each module looks for some abilities: NAMES, what it asks (PROGRAMS, FILES), look(place)."""
