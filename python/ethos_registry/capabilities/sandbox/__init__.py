"""Commands that the kernel confines to a reach."""
