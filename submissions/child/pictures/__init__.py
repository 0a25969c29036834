"""What a submission's own functions make of a picture: the model's input, or a class."""
