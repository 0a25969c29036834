"""The exit codes."""

from __future__ import annotations

FINE = 0
WRONG = 1
USAGE = 2  # as click has it
HARNESS = 3
INTERRUPTED = 130  # as shells have it

HELP = f"""\b
Exit codes:
  {FINE}    everything was graded; with check, trace and validate, nothing wrong was found
  {WRONG}    with check and trace: something is wrong with the file; with validate: with the assignment
  {USAGE}    the command line or the assignment file cannot be used
  {HARNESS}    the grader itself failed on a submission, or could not keep a result
  {INTERRUPTED}  interrupted; results that were finished are in the gradebook"""
