"""Options: the table, its checks, the accepted combinations, and the published algorithms by name."""
