"""Public functions on tensors; each runs in either mode, by its operands.

The package is called as a function too: ``paddle.tensor([1.0, 2.0])``.
"""

import sys
from types import ModuleType
from typing import Any


class _Callable(ModuleType):
    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        from autograd_engine.tensor.public import as_tensor

        return as_tensor(*args, **kwargs)


sys.modules[__name__].__class__ = _Callable
