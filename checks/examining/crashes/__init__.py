"""Why a forward pass ended in an exception."""
