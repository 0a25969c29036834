"""One file for each change of the tables; what has been released is never edited."""
