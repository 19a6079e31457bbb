"""``paddle.amp``: mixed precision. Operations in a low dtype, master weights, scaled losses."""

import typing

from autograd_engine.core.lazy import face as _face

if typing.TYPE_CHECKING:
    from autograd_engine.amp import debugging as debugging
    from autograd_engine.amp.casting import (
        amp_guard as amp_guard,
        auto_cast as auto_cast,
        autocast as autocast,
        black_list as black_list,
        get_autocast_cpu_dtype as get_autocast_cpu_dtype,
        get_autocast_dtype as get_autocast_dtype,
        get_autocast_gpu_dtype as get_autocast_gpu_dtype,
        is_autocast_enabled as is_autocast_enabled,
        is_bfloat16_supported as is_bfloat16_supported,
        is_float16_supported as is_float16_supported,
        white_list as white_list,
    )
    from autograd_engine.amp.decoration import amp_decorate as amp_decorate, decorate as decorate
    from autograd_engine.amp.grad_scaler import GradScaler as GradScaler
else:
    __getattr__, __dir__, __all__ = _face(
        __name__,
        {
            "amp.casting": "amp_guard auto_cast autocast black_list get_autocast_cpu_dtype "
            "get_autocast_dtype get_autocast_gpu_dtype is_autocast_enabled is_bfloat16_supported "
            "is_float16_supported white_list",
            "amp.decoration": "amp_decorate decorate",
            "amp.grad_scaler": "GradScaler",
        },
        "debugging",
    )
