"""Devices, ``paddle.device``: the CPU, and those on which a backend runs programs.

Of these it is silent until such a backend was asked for, by `set_device`, by the environment
variable ``AUTOGRAD_ENGINE_BACKEND`` or by a program: to look for them takes time and memory.
"""

import typing
from importlib.util import find_spec as _find_spec

from autograd_engine.compiler.devices import places as _places, wait as _wait
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
    """How many devices there are besides the CPU."""
    return len(_places("gpu", "tpu"))


def is_available() -> bool:
    """Whether there is a device besides the CPU."""
    return device_count() > 0


def get_all_device_type() -> list[str]:
    """Kinds of devices besides the CPU."""
    return ["gpu"] if _places("gpu") else []


def get_all_custom_device_type() -> list[str]:
    """Kinds of devices that the reference reaches by a plug-in."""
    return ["tpu"] if _places("tpu") else []


def get_available_device() -> list[str]:
    """All devices besides the CPU."""
    return [str(place) for place in _places("cpu", "gpu")]


def get_available_custom_device() -> list[str]:
    """All devices that the reference reaches by a plug-in."""
    return [str(place) for place in _places("tpu")]


def get_cudnn_version() -> None:
    """None: there is no cuDNN."""
    return None


def is_bf16_supported(including_emulation: bool = True) -> bool:
    """Whether `ml_dtypes` is installed, which bfloat16 takes; it is computed in float32."""
    return including_emulation and _find_spec("ml_dtypes") is not None


def is_compiled_with_cuda() -> bool:
    """Whether there is a GPU on which programs can run."""
    return bool(_places("gpu"))


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
    """Whether there is such a device: a ``"tpu"``."""
    return device_type in get_all_custom_device_type()


def manual_seed(seed_value: int) -> None:
    """`paddle.seed`, without a result."""
    _seed(seed_value)


def synchronize(device: typing.Any = None) -> None:
    """Wait until what was called is done: on the CPU it is, when a call is over."""
    if device is not None and str(device) != get_device():
        with device_guard(device):  # which refuses any other
            pass
    _wait()


if not typing.TYPE_CHECKING:
    __getattr__, __dir__, __all__ = _face(__name__, submodules="cuda")
