"""``paddle.version``: the release of Paddle whose names these are, for programs that ask for it.

The engine's own version is ``autograd_engine.__version__``.
"""

from __future__ import annotations

from typing import Literal

__all__ = [
    "cuda",
    "cudnn",
    "full_version",
    "major",
    "minor",
    "nccl",
    "patch",
    "rc",
    "show",
    "xpu",
]

major = "3"
minor = "3"
patch = "1"
rc = "0"
full_version = f"{major}.{minor}.{patch}"


def __dir__() -> list[str]:
    return __all__


def cuda() -> Literal["False"]:
    """``"False"``: all arrays are on the CPU."""
    return "False"


def cudnn() -> Literal["False"]:
    """``"False"``: all arrays are on the CPU."""
    return "False"


def nccl() -> Literal["0"]:
    """``"0"``: there is none."""
    return "0"


def xpu() -> Literal["False"]:
    """``"False"``: all arrays are on the CPU."""
    return "False"


def show() -> None:
    """Print the release and its parts.

    Examples
    --------
    >>> import autograd_engine as paddle
    >>> paddle.version.show()
    full_version: 3.3.1
    major: 3
    minor: 3
    patch: 1
    rc: 0
    cuda: False
    cudnn: False
    """
    print("full_version:", full_version)
    for part in ("major", "minor", "patch", "rc"):
        print(f"{part}:", globals()[part])
    print("cuda:", cuda())
    print("cudnn:", cudnn())
