"""What users hand over, as the core reads it: rows, labels, targets, weights."""
