"""Run the notebooks from top to bottom, in a new kernel of this Python, and store what they print.

    python tools/docs/run_notebooks.py                                  # all, in place
    python tools/docs/run_notebooks.py --output DIR tour_of_both_modes.ipynb

What is stored holds nothing that differs between two runs: no times, no paths, no process numbers.
Exits with 1 when a cell fails, and then leaves the notebook as it was.
"""

from __future__ import annotations

import argparse
import os
import re
import sys
import tempfile
from pathlib import Path
from typing import Any

# Nothing of the user's configuration, history or start-up files is read or written.
_scratch = tempfile.TemporaryDirectory(prefix="notebooks-", ignore_cleanup_errors=True)
for _name in ("IPYTHONDIR", "JUPYTER_CONFIG_DIR", "JUPYTER_DATA_DIR", "JUPYTER_RUNTIME_DIR"):
    os.environ[_name] = str(Path(_scratch.name) / _name.lower())
    Path(os.environ[_name]).mkdir()
os.environ["JUPYTER_PLATFORM_DIRS"] = "1"

try:
    import nbformat
    from jupyter_client.kernelspec import KernelSpecManager
    from jupyter_client.manager import AsyncKernelManager
    from nbclient import NotebookClient
    from nbclient.exceptions import CellExecutionError
except ModuleNotFoundError as missing:
    sys.exit(f'{missing.name} is not installed: pip install "autograd-engine[test]"')

ROOT = Path(__file__).resolve().parents[2]
SECONDS = 120  # for one cell
COLOURS = re.compile(r"\x1b\[[0-9;]*m")


def executed(path: Path) -> Any:
    """The notebook at `path` with the outputs of a run in a directory of its own."""
    notebook = nbformat.read(path, as_version=4)
    for number, cell in enumerate(notebook.cells):
        cell.id = f"cell-{number}"
        if cell.cell_type == "code":
            cell.outputs, cell.execution_count = [], None
    # Without directories to search, the kernel is the one of this interpreter.
    manager = AsyncKernelManager(kernel_spec_manager=KernelSpecManager(kernel_dirs=[]))
    with tempfile.TemporaryDirectory(prefix="notebook-") as directory:
        if os.name == "posix":  # sockets in a directory: no port that others could reach or take
            manager.transport, manager.ip = "ipc", str(Path(_scratch.name) / path.stem)
        client = NotebookClient(
            notebook,
            km=manager,
            kernel_name="python3",
            timeout=SECONDS,
            resources={"metadata": {"path": directory}},
            record_timing=False,
            coalesce_streams=True,
        )
        client.execute(cleanup_kc=True)
    notebook.metadata = nbformat.from_dict(
        {
            "kernelspec": {"display_name": "Python 3", "language": "python", "name": "python3"},
            "language_info": {"name": "python"},
        }
    )
    nbformat.validate(notebook)
    return notebook


def main() -> int:
    parser = argparse.ArgumentParser(description="Run notebooks and store what they print.")
    parser.add_argument("notebooks", nargs="*", type=Path, help="all of examples/ by default")
    parser.add_argument("--output", type=Path, help="a directory; in place by default")
    arguments = parser.parse_args()
    os.environ["PYTHONPATH"] = os.pathsep.join(
        filter(None, [str(ROOT), os.environ.get("PYTHONPATH")])
    )
    for path in arguments.notebooks or sorted((ROOT / "examples").glob("*.ipynb")):
        try:
            notebook = executed(path)
        except CellExecutionError as error:
            print(f"{path.name}: {COLOURS.sub('', str(error))}", file=sys.stderr)
            return 1
        target = (arguments.output or path.parent) / path.name
        nbformat.write(notebook, target)
        print(f"{target}: {len(notebook.cells)} cells")
    return 0


if __name__ == "__main__":
    sys.exit(main())
