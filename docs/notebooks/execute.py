"""Runs the notebooks and keeps what they print and draw: `python docs/notebooks/execute.py`.

Comes in: the notebooks next to this file. Goes out: the same, with new outputs.
"""

from pathlib import Path

import nbformat
from nbclient import NotebookClient

HERE = Path(__file__).parent


def executed(path: Path) -> nbformat.NotebookNode:
    """The notebook after every cell has run in a new kernel; raises where one fails."""
    notebook = nbformat.read(path, as_version=4)
    for cell in notebook.cells:
        if cell.cell_type == "code":
            cell.outputs, cell.execution_count = [], None
    NotebookClient(notebook, timeout=120, kernel_name="python3").execute()
    for cell in notebook.cells:
        cell.metadata.pop("execution", None)  # when it ran: no two runs agree
    return notebook


if __name__ == "__main__":
    for path in sorted(HERE.glob("*.ipynb")):
        text = nbformat.writes(executed(path), indent=1, ensure_ascii=False)
        path.write_text(text + "\n")
        print(path.name)
