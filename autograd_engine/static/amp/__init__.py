"""``paddle.static.amp``: mixed precision for programs that were built in float32."""

import typing

from autograd_engine.core.lazy import face as _face

if typing.TYPE_CHECKING:
    from autograd_engine.static.amp import bf16 as bf16, debugging as debugging
    from autograd_engine.static.amp.decorated import decorate as decorate
    from autograd_engine.static.amp.lists import (
        AutoMixedPrecisionLists as AutoMixedPrecisionLists,
        CustomOpLists as CustomOpLists,
    )
    from autograd_engine.static.amp.rewriting import (
        cast_model_to_fp16 as cast_model_to_fp16,
        cast_parameters_to_fp16 as cast_parameters_to_fp16,
        fp16_guard as fp16_guard,
    )
else:
    __getattr__, __dir__, __all__ = _face(
        __name__,
        {
            "static.amp.decorated": "decorate",
            "static.amp.lists": "AutoMixedPrecisionLists CustomOpLists",
            "static.amp.rewriting": "cast_model_to_fp16 cast_parameters_to_fp16 fp16_guard",
        },
        "bf16 debugging",
    )
