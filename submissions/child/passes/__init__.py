"""What is asked of a model that is built: passes, recorded or plain, and what they show."""
