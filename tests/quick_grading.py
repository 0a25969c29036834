"""``vitcheck``, where a submission is done as soon as it says: run as ``python quick_grading.py grade …``."""

from __future__ import annotations

from unittest.mock import patch

from quick_tasks import NoChildren, Quick

from vitcheck.__main__ import main

if __name__ == "__main__":  # which is not so in the processes of workers
    with (
        patch("vitcheck.checks.classes.many.Task", Quick),
        patch("vitcheck.checks.classes.tasks.Setting", NoChildren),
    ):
        main()
