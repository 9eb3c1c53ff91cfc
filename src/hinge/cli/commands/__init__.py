"""One module per command of `hinge`."""
