"""What happens to a tool's text between its return and the model: reducers, and the finish."""
