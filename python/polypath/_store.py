"""Finished runs of a sweep on disk: one line of JSON for each, written as soon as it is over."""

from __future__ import annotations

import fcntl
import json
import os
from pathlib import Path
from types import TracebackType
from typing import Any, Self

FILE = "runs.jsonl"


class Store:
    """The file ``runs.jsonl`` in a folder, which is made if it is not there. One sweep at a time."""

    def __init__(self, folder: str | os.PathLike[str]) -> None:
        self._path = Path(folder) / FILE
        self._path.parent.mkdir(parents=True, exist_ok=True)
        self._file = self._path.open("a+b")
        try:
            fcntl.flock(self._file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            self._file.close()
            raise BlockingIOError(f"{self._path}: another sweep writes to it") from None
        try:
            self._known = self._read()
        except ValueError:
            self._file.close()
            raise

    def get(self, key: str) -> str | None:
        """The report of a run, as JSON, if it is there."""
        return self._known.get(key)

    def append(self, key: str, point: dict[str, Any], seed: int, report: str) -> None:
        """Keeps the report of a run; it is on its way to the disk when this returns."""
        line = {"key": key, "set": point, "seed": seed, "report": json.loads(report)}
        # In one piece: a program that is killed leaves a torn line at the end at most.
        self._file.write(json.dumps(line).encode() + b"\n")
        self._file.flush()

    def close(self) -> None:
        """Lets others write."""
        self._file.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    def _read(self) -> dict[str, str]:
        self._file.seek(0)
        text = self._file.read()
        whole = text.rfind(b"\n") + 1
        # The last line of a program that was killed; its run is done again.
        self._file.truncate(whole)
        lines = enumerate(text[:whole].splitlines(), start=1)
        return dict(self._entry(number, line) for number, line in lines)

    def _entry(self, number: int, line: bytes) -> tuple[str, str]:
        try:
            entry = json.loads(line)
            return entry["key"], json.dumps(entry["report"])
        except (ValueError, TypeError, KeyError) as problem:
            raise ValueError(
                f"{self._path}:{number}: not a line of results ({problem}); "
                "allowed: what polypath.sweep has written"
            ) from None
