"""Tools on a Ray cluster: actors, workers and the transport that calls them."""
