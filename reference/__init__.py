"""The answer key: stage table, equations, the reference ViT and its variants. Knows nothing of students."""
