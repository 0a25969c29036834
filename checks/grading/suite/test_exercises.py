"""The exercises on a trained ViT that the assignment asks for."""

from vitcheck.checks.parts.exercises import Exercises
from vitcheck.reference.exercises import Exercise


# no docstring here: the exercise's own title is the title of its check
def test_exercise(exercises: Exercises, exercise: Exercise) -> None:
    exercises.check(exercise.key)
