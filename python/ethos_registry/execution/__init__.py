"""Running a batch: one result a call, in order, in time and inside the budget."""
