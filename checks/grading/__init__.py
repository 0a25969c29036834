"""From a submission's files to its result record: the steps, and what each of them found."""
