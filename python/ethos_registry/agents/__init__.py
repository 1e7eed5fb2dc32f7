"""One catalogue of tools for all agents of an application, and delegation between them."""
