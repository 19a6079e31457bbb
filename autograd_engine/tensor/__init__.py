"""Public functions on tensors; each runs in either mode, by its operands.

The package is called as a function too: ``paddle.tensor([1.0, 2.0])``.
"""

import sys
from types import ModuleType
from typing import TYPE_CHECKING, Any

from autograd_engine.core.lazy import lazily

if TYPE_CHECKING:
    from autograd_engine.tensor import array as array
    from autograd_engine.tensor.array import (
        array_length as array_length,
        array_read as array_read,
        array_write as array_write,
        create_array as create_array,
        create_tensor as create_tensor,
        manipulation as manipulation,
        tensor_array_to_tensor as tensor_array_to_tensor,
    )
else:
    __getattr__ = lazily(
        __name__,
        {
            "tensor.array": "array_length array_read array_write create_array create_tensor "
            "manipulation tensor_array_to_tensor"
        },
        "array",
    )


class _Callable(ModuleType):
    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        from autograd_engine.tensor.public import as_tensor

        return as_tensor(*args, **kwargs)


sys.modules[__name__].__class__ = _Callable
