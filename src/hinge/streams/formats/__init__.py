"""One module per file format: each turns bytes into batches of examples."""
