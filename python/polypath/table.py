"""Arrow tables."""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

from . import _native

if TYPE_CHECKING:
    import polars


class Table:
    """A table in Arrow's memory format.

    It has the Arrow PyCapsule interface (``__arrow_c_stream__``): ``polars.DataFrame(table)``,
    ``pyarrow.table(table)``, ``pandas.DataFrame.from_arrow(table)`` and DuckDB take it as it is,
    without a copy. Units and descriptions of columns are in the metadata of the fields.
    """

    __slots__ = ("_native",)

    def __init__(self, native: _native.Table) -> None:
        self._native = native

    @classmethod
    def from_columns(cls, columns: dict[str, list[Any]]) -> Table:
        """A table of columns by name, each a list of texts, numbers, switches or None."""
        return cls(_native.Table.from_columns(columns))

    @property
    def column_names(self) -> list[str]:
        """The names of the columns."""
        return self._native.column_names

    @property
    def num_rows(self) -> int:
        """How many rows it has."""
        return len(self._native)

    def unit(self, name: str) -> str | None:
        """The unit of a column, if it has one."""
        return dict(self._native.metadata(name)).get("unit")

    def column(self, name: str) -> list[Any]:
        """The values of a column, copied; None where there is none."""
        return self._native.column(name)

    def to_pydict(self) -> dict[str, list[Any]]:
        """All columns by name, copied."""
        return {name: self.column(name) for name in self.column_names}

    def to_rows(self) -> list[dict[str, Any]]:
        """All rows, copied, each a dict."""
        names = self.column_names
        return [
            dict(zip(names, row, strict=True)) for row in zip(*map(self.column, names), strict=True)
        ]

    def to_pyarrow(self) -> Any:
        """The same memory as a ``pyarrow.Table``, which has no types to tell."""
        return importlib.import_module("pyarrow").table(self)

    def to_polars(self) -> polars.DataFrame:
        """The same memory as a data frame of polars."""
        return importlib.import_module("polars").DataFrame(self)

    def to_pandas(self) -> Any:
        """A ``pandas.DataFrame``, by way of pyarrow."""
        return self.to_pyarrow().to_pandas()

    def __arrow_c_stream__(self, requested_schema: object | None = None) -> object:
        return self._native.__arrow_c_stream__(requested_schema)

    def __arrow_c_schema__(self) -> object:
        return self._native.__arrow_c_schema__()

    def __len__(self) -> int:
        return len(self._native)

    def __repr__(self) -> str:
        return f"<Table of {self.num_rows} rows: {', '.join(self.column_names)}>"
