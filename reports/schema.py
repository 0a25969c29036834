"""The published JSON Schemas, of ``result.json`` and of what ``trace`` and ``snapshot`` write."""

from __future__ import annotations

import json

from ..checks.record.result import Result
from ..checks.record.snapshot import Record, Snapshot


def result_schema() -> str:
    """The text of ``docs/result.schema.json``."""
    return _published(Result)


def snapshot_schema() -> str:
    """The text of ``docs/snapshot.schema.json``."""
    return _published(Snapshot)


def _published(record: type[Record]) -> str:
    schema = record.model_json_schema(by_alias=True, mode="serialization")
    published = {"$schema": "https://json-schema.org/draft/2020-12/schema", **schema}
    return json.dumps(published, indent=1, ensure_ascii=False) + "\n"
