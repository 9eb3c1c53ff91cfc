"""Hindsight on each kind of stream: rows, sentences, structures, and labels with features of their own."""
