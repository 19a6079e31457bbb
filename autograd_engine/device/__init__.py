"""``paddle.device``: programs ask here what they may run on, and it is the CPU."""

from __future__ import annotations

from autograd_engine.device import cuda
from autograd_engine.tensor.attribute import get_device, set_device

__all__ = [
    "cuda",
    "device_count",
    "get_all_custom_device_type",
    "get_all_device_type",
    "get_available_custom_device",
    "get_available_device",
    "get_cudnn_version",
    "get_device",
    "is_available",
    "is_compiled_with_cinn",
    "is_compiled_with_cuda",
    "is_compiled_with_custom_device",
    "is_compiled_with_distribute",
    "is_compiled_with_ipu",
    "is_compiled_with_rocm",
    "is_compiled_with_xpu",
    "set_device",
    "synchronize",
]


def __dir__() -> list[str]:
    return __all__


def device_count() -> int:
    """0: devices other than the CPU are counted."""
    return 0


def is_available() -> bool:
    """False: there is no device other than the CPU."""
    return False


def get_all_device_type() -> list[str]:
    """``[]``: devices other than the CPU are listed."""
    return []


def get_all_custom_device_type() -> list[str]:
    """``[]``: there are none."""
    return []


def get_available_device() -> list[str]:
    """``[]``: devices other than the CPU are listed."""
    return []


def get_available_custom_device() -> list[str]:
    """``[]``: there are none."""
    return []


def get_cudnn_version() -> int | None:
    """None: there is none."""
    return None


def is_compiled_with_cinn() -> bool:
    """False: programs are compiled by this engine."""
    return False


def is_compiled_with_cuda() -> bool:
    """False: all arrays are on the CPU.

    Examples
    --------
    >>> import autograd_engine as paddle
    >>> paddle.device.set_device("gpu" if paddle.device.is_compiled_with_cuda() else "cpu")
    Place(cpu)
    """
    return False


def is_compiled_with_custom_device(device_type: str) -> bool:
    """False for every type: all arrays are on the CPU."""
    return False


def is_compiled_with_distribute() -> bool:
    """False: there is one process."""
    return False


def is_compiled_with_ipu() -> bool:
    """False: all arrays are on the CPU."""
    return False


def is_compiled_with_rocm() -> bool:
    """False: all arrays are on the CPU."""
    return False


def is_compiled_with_xpu() -> bool:
    """False: all arrays are on the CPU."""
    return False


def synchronize(device: object = None) -> None:
    """Returns at once: what has been called has been computed."""
