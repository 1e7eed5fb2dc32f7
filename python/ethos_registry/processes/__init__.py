"""Programs that end with everything they started."""
