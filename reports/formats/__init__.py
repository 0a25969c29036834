"""Results in the formats of other systems, by the names that ``vitcheck export --to`` takes."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MappingProxyType

from ...checks.record.result import Result
from .code_quality import code_quality
from .github import outputs, workflow_commands
from .gradescope_results import gradescope
from .job_summary import job_summary
from .junit import junit
from .repository import Repository

Format = Callable[[Result, Repository], str]

# of one submission
FORMATS: Mapping[str, Format] = MappingProxyType(
    {
        "github-annotations": workflow_commands,
        "github-summary": job_summary,
        "github-outputs": outputs,
        "gitlab-code-quality": code_quality,
        "junit": junit,
        "gradescope": gradescope,
    }
)
