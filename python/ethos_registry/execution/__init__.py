"""One batch: from admitted calls to results in order."""
