"""Theorems, comparators and certificates."""
