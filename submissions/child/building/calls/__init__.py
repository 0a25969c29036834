"""What a student's constructor, function or forward is called with, and what the built model shows."""
