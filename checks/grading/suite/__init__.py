"""The pytest modules that every submission is run against."""
