"""How a model sees tools and answers with calls: one file a provider."""
