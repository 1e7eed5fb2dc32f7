"""What a tool may touch and how that is enforced."""
