"""The objects that hold tools and show them: registries, views, turns, streams, search."""
