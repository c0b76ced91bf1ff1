"""Types and form: strict checks pass, stubs tell what is there, the code is formatted."""

from __future__ import annotations

import ast
import subprocess
import sys
from pathlib import Path

from polypath import _native

PYTHON = Path(__file__).resolve().parents[1]


def test_strict_type_checks_pass() -> None:
    command = [sys.executable, "-m", "basedpyright", "--pythonpath", sys.executable]
    checked = subprocess.run(command, cwd=PYTHON, capture_output=True, text=True, check=False)
    assert checked.returncode == 0, checked.stdout


def test_stubs_have_what_the_native_half_has() -> None:
    stubs = ast.parse((PYTHON / "polypath" / "_native.pyi").read_text())
    named: dict[str, ast.stmt] = {}
    for node in stubs.body:
        if isinstance(node, ast.ClassDef | ast.FunctionDef):
            named[node.name] = node
    public = {name for name in dir(_native) if not name.startswith("_")}
    assert set(named) == public
    for name, node in named.items():
        if isinstance(node, ast.ClassDef) and not name.endswith("Error"):
            assert members(node) == attributes(getattr(_native, name)), name


def members(node: ast.ClassDef) -> set[str]:
    """What a class has by its stub."""
    names: set[str] = set()
    for item in node.body:
        if isinstance(item, ast.FunctionDef | ast.ClassDef):
            names.add(item.name)
        elif isinstance(item, ast.AnnAssign) and isinstance(item.target, ast.Name):
            names.add(item.target.id)
    return {name for name in names if not name.startswith("__")}


def attributes(cls: type) -> set[str]:
    """What it has."""
    return {name for name in vars(cls) if not name.startswith("__")}


def test_the_code_is_formatted() -> None:
    for command in (["check"], ["format", "--check"]):
        ruff = [sys.executable, "-m", "ruff", *command, "--no-cache", "."]
        checked = subprocess.run(ruff, cwd=PYTHON, capture_output=True, text=True, check=False)
        assert checked.returncode == 0, checked.stdout
