"""What a tool may touch: the scoped objects that backends make for it."""
