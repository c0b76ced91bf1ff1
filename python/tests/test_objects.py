"""The objects have exactly the keys of the schema."""

from __future__ import annotations

import importlib.util
from pathlib import Path

TOOL = Path(__file__).resolve().parents[1] / "tools" / "write_objects.py"


def test_objects_are_those_of_the_schema() -> None:
    spec = importlib.util.spec_from_file_location("write_objects", TOOL)
    assert spec is not None and spec.loader is not None
    tool = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(tool)
    told = "stale: run `make generate`"
    assert tool.OBJECTS.read_text() == tool.text(), told
