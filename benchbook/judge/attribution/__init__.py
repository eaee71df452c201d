"""How much of an odd factor its causes explain, each by a twin without it."""
