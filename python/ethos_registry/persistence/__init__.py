"""Files and threads that outlive a call: SQLite files, and writers in the background."""
