"""``paddle.incubate``: the functional derivatives under their older names."""

from typing import TYPE_CHECKING

from autograd_engine.autograd import flat_jacobian as autograd
from autograd_engine.core.lazy import lazily

__all__ = ["autograd"]


def __dir__() -> list[str]:
    return __all__


if not TYPE_CHECKING:
    __getattr__ = lazily(__name__, {})
