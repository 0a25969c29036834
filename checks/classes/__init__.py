"""Many submissions: tasks, the engines that do them, and the gradebook that keeps the results."""
