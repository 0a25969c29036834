"""How a student's model is built at any size, and functions are called."""
