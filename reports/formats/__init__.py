"""Results in the formats of other systems, by the names that ``vitcheck export --to`` takes."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MappingProxyType

from ...checks.record.for_students import for_students
from ...checks.record.result import Result
from .classroom50 import classroom50
from .code_quality import code_quality
from .github import outputs, workflow_commands
from .gradescope_results import gradescope
from .job_summary import job_summary
from .junit import junit
from .repository import Repository

Format = Callable[[Result, Repository], str]


def _told(write: Format) -> Format:
    """The format of what students may see: it goes where they look."""
    return lambda result, repository: write(for_students(result), repository)


# of one submission; Gradescope keeps back itself what is shown later
FORMATS: Mapping[str, Format] = MappingProxyType(
    {
        "github-annotations": _told(workflow_commands),
        "github-summary": _told(job_summary),
        "github-outputs": _told(outputs),
        "gitlab-code-quality": _told(code_quality),
        "junit": _told(junit),
        "classroom50": _told(classroom50),
        "gradescope": gradescope,
    }
)
