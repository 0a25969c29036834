"""Single components and exercises: what of a submission they are, and whether they are right."""
