"""``paddle.incubate``: the functional derivatives under their older names."""

from autograd_engine.autograd import flat_jacobian as autograd

__all__ = ["autograd"]


def __dir__() -> list[str]:
    return __all__
