"""What every table of an assignment file is: read once, without a key that nobody knows. Imports no torch."""

from pydantic import BaseModel, ConfigDict


class AskedTable(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")
