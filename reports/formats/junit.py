"""JUnit XML, which GitLab, Jenkins and many others show as a list of tests."""

from __future__ import annotations

from collections.abc import Iterator
from xml.etree.ElementTree import Element, SubElement, indent, tostring

from ...checks.record.result import CheckResult, Outcome, Result, Status
from ..words.assigned import assigned
from ..words.quoting import begun
from ..words.standing import standing
from ..words.text import clean, one_line, visible
from .repository import Repository


def junit(result: Result, _: Repository) -> str:
    """A suite with a test for each check, or a single one that failed where nothing could be graded."""
    tests = list(_tests(result))
    suites = Element("testsuites")
    suite = SubElement(
        suites,
        "testsuite",
        name=f"{one_line(result.submission)} · {assigned(result)}",
        tests=str(len(tests)),
        failures=str(sum(one.find("failure") is not None for one in tests)),
        errors="0",
        skipped=str(sum(one.find("skipped") is not None for one in tests)),
        time=f"{result.run.seconds:.3f}",
    )
    suite.extend(tests)
    indent(suites)
    return tostring(suites, "unicode", xml_declaration=True) + "\n"


def _tests(result: Result) -> Iterator[Element]:
    if result.status is not Status.GRADED:
        stands = standing(result)
        yield _failing("vitcheck", stands.heading, result.status.value, f"{stands.sentence}\n{stands.advice}")
    yield from map(_test, result.checks)


def _test(check: CheckResult) -> Element:
    group, name = check.stage or "model", f"{check.id}: {check.title}"
    if check.costs:
        return _failing(group, name, check.outcome.value, check.message)
    test = _case(group, name)
    if check.outcome is not Outcome.PASSED:
        SubElement(test, "skipped", message=one_line(check.message))
    return test


def _failing(group: str, name: str, kind: str, message: str) -> Element:
    """A check without an answer has failed like any other."""
    test = _case(group, name)
    failure = SubElement(test, "failure", type=kind, message=one_line(message))
    failure.text = begun(clean(message))
    return test


def _case(group: str, name: str) -> Element:
    return Element("testcase", classname=visible(group), name=one_line(name), time="0")
