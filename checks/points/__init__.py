"""What a submission gets for how its checks ended: of kept outcomes, so that nothing is graded for it."""
