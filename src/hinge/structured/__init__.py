"""Sequences, structures and rankings with features that depend on the label."""
