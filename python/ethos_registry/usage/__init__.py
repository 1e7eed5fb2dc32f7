"""Who called what, how often, and how it ended: the ledger and its report."""
