"""The published JSON Schema of ``result.json``."""

from __future__ import annotations

import json

from ..checks.result import Result


def result_schema() -> str:
    """The text of ``docs/result.schema.json``."""
    schema = Result.model_json_schema(by_alias=True, mode="serialization")
    published = {"$schema": "https://json-schema.org/draft/2020-12/schema", **schema}
    return json.dumps(published, indent=1, ensure_ascii=False) + "\n"
