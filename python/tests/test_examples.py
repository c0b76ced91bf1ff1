"""Examples run: programs, the notebook, and the Python section of the README."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import nbformat
import pytest
from conftest import ROOT, SCENARIOS
from nbclient import NotebookClient

EXAMPLES = ROOT / "python" / "examples"


@pytest.mark.parametrize("file", sorted(EXAMPLES.glob("*.py")), ids=lambda file: file.name)
def test_programs_run(file: Path) -> None:
    told = subprocess.run([sys.executable, file], check=True, capture_output=True, text=True).stdout
    assert "Mbit/s" in told


def test_the_notebook_runs() -> None:
    notebook = nbformat.read(EXAMPLES / "quickstart.ipynb", as_version=4)
    nbformat.validate(notebook)
    NotebookClient(notebook, timeout=300, kernel_name="python3").execute()
    outputs = [output for cell in notebook.cells for output in cell.get("outputs", [])]
    pictures = [output for output in outputs if "image/png" in output.get("data", {})]
    assert len(pictures) == 5
    assert not [output for output in outputs if output.get("name") == "stderr"]


@pytest.mark.parametrize("page", ["README.md", "docs/python.md"])
def test_what_the_docs_show_runs(page: str, tmp_path: Path) -> None:
    """All blocks of Python of a page, one after the other, with the scenarios of the sources."""
    blocks = re.findall(r"```python\n(.*?)```", (ROOT / page).read_text(), re.DOTALL)
    assert len(blocks) >= 1
    (tmp_path / "scenarios").symlink_to(SCENARIOS)
    subprocess.run([sys.executable, "-c", "\n".join(blocks)], check=True, cwd=tmp_path)
