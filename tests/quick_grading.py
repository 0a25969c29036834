"""``vitcheck``, where a submission is done as soon as it says: run as ``python quick_grading.py grade …``."""

from __future__ import annotations

from quick_tasks import NoChildren, Quick

from vitcheck.__main__ import main
from vitcheck.checks import many, tasks

if __name__ == "__main__":  # which is not so in the processes of workers
    many.Task = Quick  # type: ignore[misc] # a test's own kind of task
    tasks.Setting = NoChildren  # type: ignore[misc] # as above
    main()
