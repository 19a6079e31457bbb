"""Devices, ``paddle.device``: there is one, the CPU."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from autograd_engine.core.lazy import listed
from autograd_engine.core.random_generator import get_rng_state, seed, set_rng_state
from autograd_engine.device import cuda
from autograd_engine.program.marking import device_guard
from autograd_engine.tensor.attribute import get_device, set_device

__all__ = [
    "cuda",
    "device",
    "device_count",
    "device_guard",
    "get_all_custom_device_type",
    "get_all_device_type",
    "get_available_custom_device",
    "get_available_device",
    "get_cudnn_version",
    "get_device",
    "get_rng_state",
    "is_available",
    "is_bf16_supported",
    "is_compiled_with_cinn",
    "is_compiled_with_cuda",
    "is_compiled_with_custom_device",
    "is_compiled_with_distribute",
    "is_compiled_with_ipu",
    "is_compiled_with_rocm",
    "is_compiled_with_xpu",
    "manual_seed",
    "set_device",
    "set_rng_state",
    "synchronize",
]


if not TYPE_CHECKING:
    __getattr__, __dir__ = listed(__name__)


device = device_guard


def device_count() -> int:
    """0: how many devices there are besides the CPU."""
    return 0


def is_available() -> bool:
    """False: there is no device besides the CPU."""
    return False


def get_all_device_type() -> list[str]:
    """No kind of device besides the CPU."""
    return []


def get_all_custom_device_type() -> list[str]:
    """No kind of device that a plug-in brings."""
    return []


def get_available_device() -> list[str]:
    """No device besides the CPU."""
    return []


def get_available_custom_device() -> list[str]:
    """No device that a plug-in brings."""
    return []


def get_cudnn_version() -> None:
    """None: there is no cuDNN."""
    return None


def is_bf16_supported(including_emulation: bool = True) -> bool:
    """False: there is no bfloat16."""
    return False


def is_compiled_with_cuda() -> bool:
    """False, as for all that this engine does not run on."""
    return False


def is_compiled_with_rocm() -> bool:
    """False."""
    return False


def is_compiled_with_xpu() -> bool:
    """False."""
    return False


def is_compiled_with_ipu() -> bool:
    """False."""
    return False


def is_compiled_with_cinn() -> bool:
    """False: programs are compiled by backends of this engine's own."""
    return False


def is_compiled_with_distribute() -> bool:
    """False: there is one process."""
    return False


def is_compiled_with_custom_device(device_type: str) -> bool:
    """False, for any."""
    return False


def manual_seed(seed_value: int) -> None:
    """`paddle.seed`, without a result."""
    seed(seed_value)


def synchronize(device: Any = None) -> None:
    """Nothing: what was called is done when the call is over."""
    with device_guard(device):  # which refuses any other
        pass
