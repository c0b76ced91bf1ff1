"""From objects to the TOML of a scenario."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import fields
from pathlib import Path
from typing import Any, cast

from . import _native
from .scenario import Scenario


class Item:
    """A table of a scenario."""

    __slots__ = ()

    def to_dict(self) -> dict[str, Any]:
        """The table as TOML has it: what is None is not there."""
        given = ((each.name, getattr(self, each.name)) for each in fields(cast(Any, self)))
        return {name.removesuffix("_"): plain(value) for name, value in given if value is not None}


def plain(value: object) -> object:
    """Nested dicts and lists of what TOML knows."""
    if isinstance(value, Item):
        return value.to_dict()
    if isinstance(value, Mapping):
        items = cast(Mapping[str, object], value).items()
        return {key: plain(item) for key, item in items if item is not None}
    if isinstance(value, Sequence) and not isinstance(value, str):
        return [plain(item) for item in cast(Sequence[object], value)]
    return value


def scenario_of(
    document: Mapping[str, object], folder: str | os.PathLike[str] | None = None
) -> Scenario:
    """The scenario of a document, with traces relative to a folder."""
    text = _native.render(cast(dict[str, Any], plain(document)))
    return Scenario.parse(text, file=Path(folder or "") / "scenario.toml")
