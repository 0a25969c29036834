"""What can be right or wrong: stages, properties of the whole model, and rules about the code."""
