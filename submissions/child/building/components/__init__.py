"""Single components: layers, and functions that compute what a layer would."""
