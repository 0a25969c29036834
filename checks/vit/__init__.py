"""The Vision Transformer as an architecture: its embedding and readout, and how its stages are judged."""
