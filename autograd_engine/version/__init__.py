"""The version whose names these are, ``paddle.version``; the engine's is ``paddle.__version__``."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from autograd_engine.core.lazy import listed

__all__ = ["cuda", "cuda_archs", "cudnn", "full_version", "major", "minor", "nccl", "patch", "show"]

full_version: Final = "3.3.1"
major, minor, patch = full_version.split(".")
rc: Final = "0"


if not TYPE_CHECKING:
    __getattr__, __dir__ = listed(__name__)


def cuda() -> str:
    """``"False"``: nothing here is built with CUDA."""
    return "False"


def cudnn() -> str:
    """``"False"``, as `cuda`."""
    return "False"


def nccl() -> str:
    """``"0"``: there is no NCCL."""
    return "0"


def cuda_archs() -> list[int]:
    """No architecture."""
    return []


def show() -> None:
    """Print the version, a part to a line.

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
    nccl: 0
    """
    for name in ("full_version", "major", "minor", "patch", "rc"):
        print(f"{name}: {globals()[name]}")
    print(f"cuda: {cuda()}\ncudnn: {cudnn()}\nnccl: {nccl()}")
