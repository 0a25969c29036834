"""The rule that what the code uses is imported."""

from __future__ import annotations

from ....submissions.reading.missing_imports import missing_imports
from ...assignment.kinds import Kind
from ...examining.examination import Examination
from ...examining.verdicts import CheckFailed
from ..declaring import once


@once(
    Kind(
        id="imports",
        group="properties",
        pays_for="what holds of the whole model, such as images in a batch that do not see each other",
        order=5,
        of_parts=True,
        part="model",
        severity="major",
    )
)
def check_imports(examination: Examination) -> None:
    """Everything that the code uses is imported.

    Else: A module is used without being imported
    """
    missing = missing_imports(examination.source.files)
    if missing:
        lines = "; ".join(f"`{one.line}`" for one in missing)
        used = "" if len(missing) == 1 else "s"
        raise CheckFailed(
            f"`{missing[0].name}` is used and never imported. Add the line{used} {lines} at the top. The rest"
            " was checked as if it were there.",
            ["import-missing"],
            frame=missing[0].frame,
        )
