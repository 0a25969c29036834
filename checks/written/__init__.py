"""What students write about their code: the snapshots with their shapes, and the answers to questions."""
