"""The commands: a file each, with what it alone needs beside it."""
