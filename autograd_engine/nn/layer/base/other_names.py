"""Names that torch has for methods of layers."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

from autograd_engine.core.dtypes import DTypeLike
from autograd_engine.errors import ArgumentError
from autograd_engine.nn.layer.base.state_dict import Stateful

if TYPE_CHECKING:
    from autograd_engine.eager.tensor import Parameter, Tensor
    from autograd_engine.nn.layer.base.layer import Layer

__all__ = ["Loaded", "OtherNames"]

_L = TypeVar("_L", bound="OtherNames")


class Loaded(NamedTuple):
    """What `load_state_dict` could not take over."""

    missing_keys: list[str]
    unexpected_keys: list[str]


class OtherNames(Stateful):
    """Methods under the names of torch: those of a ``Module``.

    Examples
    --------
    >>> import autograd_engine as paddle
    >>> net = paddle.nn.Sequential(paddle.nn.Linear(2, 3), paddle.nn.ReLU())
    >>> [type(layer).__name__ for layer in net.modules()]
    ['Sequential', 'Linear', 'ReLU']
    >>> net.get_submodule("0").requires_grad_(False).weight.stop_gradient
    True
    """

    if TYPE_CHECKING:
        to: Callable[..., Any]
        clear_gradients: Callable[..., None]
        register_forward_post_hook: Callable[..., Any]

    def load_state_dict(
        self, state_dict: Mapping[str, Any], strict: bool = True, assign: bool = False
    ) -> Loaded:
        """`set_state_dict`; values are copied, whatever `assign` says."""
        return Loaded(*self.set_state_dict(dict(state_dict), strict=strict))

    def modules(self) -> Iterator[Layer]:
        """The layer itself, and all inside it; each once."""
        for _, layer in self.named_modules():
            yield layer

    def named_modules(
        self, memo: set[Any] | None = None, prefix: str = "", remove_duplicate: bool = True
    ) -> Iterator[tuple[str, Layer]]:
        """`named_sublayers`, this layer included."""
        yield from self.named_sublayers(prefix, include_self=True, layers_set=memo)

    def add_module(self, name: str, module: Any) -> None:
        """`add_sublayer`"""
        self.add_sublayer(name, module)

    register_module = add_module

    def register_parameter(self, name: str, param: Any) -> None:
        """`add_parameter`"""
        self.add_parameter(name, param)

    def register_forward_hook(self, hook: Callable[..., Any]) -> Any:
        """`register_forward_post_hook`"""
        return self.register_forward_post_hook(hook)

    def get_submodule(self, target: str) -> Any:
        """The layer inside this one that a path such as ``"0.conv"`` leads to."""
        found: Any = self
        for part in filter(None, target.split(".")):
            found = dict(found.named_children()).get(part)
            if found is None:
                raise ArgumentError(f"get_submodule: there is no layer {part!r} on {target!r}")
        return found

    get_sublayer = get_submodule

    def get_parameter(self, target: str) -> Parameter:
        """The parameter that a path such as ``"0.weight"`` leads to."""
        return _named("get_parameter", target, dict(self.named_parameters()))

    def get_buffer(self, target: str) -> Tensor:
        """The buffer that a path such as ``"0._mean"`` leads to."""
        return _named("get_buffer", target, dict(self.named_buffers()))

    def zero_grad(self, set_to_none: bool = True) -> None:
        """Drop the gradients of all parameters; with ``set_to_none=False`` they become zeros."""
        self.clear_gradients(set_to_zero=not set_to_none)

    def requires_grad_(self: _L, requires_grad: bool = True) -> _L:
        """Whether gradients flow to all parameters; returns the layer."""
        for parameter in self.parameters():
            parameter.stop_gradient = not requires_grad
        return self

    def half(self: _L) -> _L:
        """``to(dtype="float16")``"""
        self.to(dtype="float16")
        return self

    float16 = half

    def bfloat16(self: _L) -> _L:
        """``to(dtype="bfloat16")``"""
        self.to(dtype="bfloat16")
        return self

    def type(self: _L, dst_type: DTypeLike) -> _L:
        """``to(dtype=dst_type)``"""
        self.to(dtype=dst_type)
        return self

    def cpu(self: _L) -> _L:
        """The layer: all arrays are on the CPU."""
        return self

    def cuda(self: _L, device: Any = None) -> _L:
        """There is no GPU here: an ArgumentError says so."""
        raise ArgumentError("cuda: this engine runs on 'cpu' only; leave the call out")


def _named(function: str, target: str, found: dict[str, Any]) -> Any:
    if target not in found:
        listed = ", ".join(found) or "none"
        raise ArgumentError(f"{function}: there is no {target!r} here, but {listed}")
    return found[target]
