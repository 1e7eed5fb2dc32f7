"""Child processes that end with their parent: start, supervise, end a whole process tree."""
