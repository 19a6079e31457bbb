"""Devices, ``paddle.device``: there is one, the CPU."""

import typing
from importlib.util import find_spec as _find_spec

from autograd_engine.core.lazy import face as _face
from autograd_engine.core.random_generator import (
    get_rng_state as get_rng_state,
    seed as _seed,
    set_rng_state as set_rng_state,
)
from autograd_engine.device import cuda as cuda
from autograd_engine.program.marking import device_guard as device_guard
from autograd_engine.tensor.attribute import get_device as get_device, set_device as set_device

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
    """Whether `ml_dtypes` is installed, which bfloat16 takes; it is computed in float32."""
    return including_emulation and _find_spec("ml_dtypes") is not None


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
    _seed(seed_value)


def synchronize(device: typing.Any = None) -> None:
    """Nothing: what was called is done when the call is over."""
    with device_guard(device):  # which refuses any other
        pass


if not typing.TYPE_CHECKING:
    __getattr__, __dir__, __all__ = _face(__name__, submodules="cuda")
