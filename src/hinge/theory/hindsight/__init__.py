"""Hindsight on each kind of stream: rows, sentences, structures, and features that depend on the label."""
