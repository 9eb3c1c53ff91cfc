"""Every option once: the table, its checks, which options go together, and the published algorithms by name."""
