"""``python -m autograd_engine program.py``: a program written for Paddle, run as it is."""

from __future__ import annotations

import runpy
import sys
from pathlib import Path

from autograd_engine.as_paddle import install_as_paddle

_USAGE = """\
usage: python -m autograd_engine program.py [argument ...]
       python -m autograd_engine -m module [argument ...]

Run a program with `import paddle` being this engine, also where Paddle is installed.
"""


def main(arguments: list[str]) -> None:
    by_name = arguments[:1] == ["-m"]
    rest = arguments[by_name:]
    if not rest or rest[0] in ("-h", "--help"):
        print(_USAGE, end="", file=sys.stdout if rest else sys.stderr)
        sys.exit(0 if rest else 2)
    install_as_paddle(replace=True)
    sys.argv = rest
    if by_name:  # looked for where the command was called, as `python -m` does
        runpy.run_module(rest[0], run_name="__main__", alter_sys=True)
    else:
        sys.path[0] = str(Path(rest[0]).resolve().parent)
        runpy.run_path(rest[0], run_name="__main__")


if __name__ == "__main__":
    main(sys.argv[1:])
