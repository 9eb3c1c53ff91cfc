"""From records and texts to named features."""
