"""Finding the 26 stages in a traced forward pass, and naming the wrong equation where one was used."""
