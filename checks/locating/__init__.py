"""Finding the 26 stages in a traced forward pass, by value, and naming the wrong equation where one was used."""
