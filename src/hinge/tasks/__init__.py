"""What differs by task."""
