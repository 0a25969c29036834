"""What the engine knows of a kind of model: its table of stages, its texts, how it is found and judged."""
