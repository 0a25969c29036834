"""What a constructor's arguments mean: by their names, and by what each of them changes."""
