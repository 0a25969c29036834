"""Small changes of a program: what might stand in the place of one piece of it."""
