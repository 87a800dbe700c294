"""EliCal and its controls."""
