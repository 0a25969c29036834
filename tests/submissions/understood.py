"""What a recipe gives each argument and constant."""

from __future__ import annotations

from vitcheck.submissions.child.building.calls.blueprint import Literal
from vitcheck.submissions.child.building.recipe import Recipe


def given(recipe: Recipe) -> dict[str, str]:
    """By its path, a meaning such as ``"embed_dim"``, or a value as ``"=16"``."""
    return {
        slot.path: f"={choice.value!r}" if isinstance(choice, Literal) else choice
        for slot, choice in recipe.controls.assignment.items()
    }
