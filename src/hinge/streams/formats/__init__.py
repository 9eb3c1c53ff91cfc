"""The formats of files: each turns bytes into batches of examples."""
