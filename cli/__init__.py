"""vitcheck grades Vision Transformer assignments."""

__version__ = "0.1.0"
