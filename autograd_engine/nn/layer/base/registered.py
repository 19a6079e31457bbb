"""What objects hold under names: parameters, buffers and other layers, and the walks over them."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Final, TypeVar

from autograd_engine.core.change_counter import ChangeCounter, Counted
from autograd_engine.core.checks import require_bools, require_type
from autograd_engine.core.names.constructors import Respelled
from autograd_engine.core.names.missing_names import missing_text
from autograd_engine.eager.tensor import Parameter, Tensor
from autograd_engine.errors import ArgumentError, ArgumentTypeError, ModeError
from autograd_engine.program.ir.program import Parameter as StaticParameter, Variable

if TYPE_CHECKING:
    from autograd_engine.nn.layer.base.layer import Layer

__all__ = ["BUFFER", "COMPOSED", "PARAMETER", "PASSING", "Registered", "SUBLAYER", "missing"]

PARAMETER: Final = "parameter"
BUFFER: Final = "buffer"
PASSING: Final = "passing buffer"  # one that state_dict leaves out
SUBLAYER: Final = "sublayer"
COMPOSED: Final = "weight composed of others"  # computed each time that it is asked for

_R = TypeVar("_R", bound="Registered")


class Registered(Respelled, Counted):
    """Parameters, buffers and layers as attributes, of which it is known what they are."""

    # Values are attributes like any other; this says which of them are registered, and as what.
    _kinds: dict[str, str]
    _composed: Mapping[str, Callable[[Any], Any]] = MappingProxyType({})

    def register_buffer(self, name: str, tensor: Any, persistable: bool = True) -> None:
        """Keep a Tensor that is no parameter, under that name.

        Parameters
        ----------
        name : str
        tensor : Tensor or None
        persistable : bool
            Whether `state_dict` has it.

        Examples
        --------
        >>> import autograd_engine as paddle
        >>> layer = paddle.nn.Layer()
        >>> layer.register_buffer("mean", paddle.zeros([3]))
        >>> list(layer.state_dict())
        ['mean']
        """
        self._check_name("register_buffer", name, BUFFER, PASSING)
        require_bools("register_buffer", persistable=persistable)
        if tensor is not None and not isinstance(tensor, (Tensor, Variable)):
            raise ArgumentTypeError(
                f"register_buffer: {name} must be a Tensor, got {type(tensor).__name__}: use "
                "paddle.to_tensor(...)"
            )
        self._put(name, tensor, BUFFER if persistable else PASSING)

    def add_parameter(self, name: str, parameter: Any) -> Any:
        """Register a parameter (or None) under a name; returns it."""
        self._check_name("add_parameter", name, PARAMETER)
        if parameter is not None and not isinstance(parameter, (Parameter, StaticParameter)):
            raise ArgumentTypeError(
                f"add_parameter: {name} must be a parameter, got {type(parameter).__name__}: make "
                "it with create_parameter(shape)"
            )
        self._put(name, parameter, PARAMETER)
        return parameter

    def add_sublayer(self, name: str, sublayer: _R) -> _R:
        """Register a layer (or None) under a name; returns it."""
        self._check_name("add_sublayer", name, SUBLAYER)
        require_type(sublayer, Registered | None, f"add_sublayer: {name} must be a Layer")
        self._put(name, sublayer, SUBLAYER)
        return sublayer

    def set_sublayer(self, target: str, layer: Any, strict: bool = False) -> None:
        """Put a layer where a path such as ``"0.conv"`` leads to, in the place of another.

        Parameters
        ----------
        target : str
        layer : Layer
        strict : bool
            Whether there must be one already.

        Examples
        --------
        >>> import autograd_engine as paddle
        >>> net = paddle.nn.Sequential(paddle.nn.Sequential(paddle.nn.ReLU()))
        >>> net.set_sublayer("0.0", paddle.nn.Tanh())
        >>> net[0]
        Sequential(
          (0): Tanh()
        )
        """
        *path, name = target.split(".")
        inside: Registered | None = self
        for part in path:
            inside = None if inside is None else dict(inside._own(SUBLAYER)).get(part)
        if inside is None or (strict and name not in dict(inside._own(SUBLAYER))):
            raise ArgumentError(
                f"set_sublayer: there is no layer on the path {target!r}; there are "
                f"{', '.join(n for n, _ in self.named_sublayers()) or 'none'}"
            )
        inside.add_sublayer(name, layer)

    def _check_name(self, function: str, name: Any, *kinds: str) -> None:
        require_type(name, str, f"{function}: the name must be a str")
        if not name or "." in name:
            raise ArgumentError(
                f"{function}: {name!r} is no name: dots stand between the names of layers, and an "
                "empty one cannot be asked for"
            )
        own = self._kinds.get(name)
        there = name in self.__dict__ or name in self._composed or hasattr(type(self), name)
        if own not in kinds and (own is not None or there):
            raise ArgumentError(
                f"{function}: {type(self).__name__} has an attribute {name!r} already"
                f"{'' if own is None else f', a {own}'}; take another name, or "
                f"`del layer.{name}` first"
            )

    # --- attributes

    def _put(self, name: str, value: Any, kind: str) -> None:
        self._kinds[name] = kind
        self.__dict__[name] = value
        ChangeCounter.note()

    def _compose(self, name: str, value: Callable[[Any], Any]) -> None:
        """Have `name`, a parameter so far, be what `value` makes of this layer from here on.

        Nothing is kept, so it is never out of date, and belongs to no trace or program.
        """
        del self.__dict__[name]
        self.__dict__["_composed"] = {**self._composed, name: value}
        self._kinds[name] = COMPOSED
        ChangeCounter.note()

    def _decompose(self, name: str, parameter: Any) -> None:
        """Have `name` be a parameter again."""
        self.__dict__["_composed"] = {n: v for n, v in self._composed.items() if n != name}
        self._put(name, parameter, PARAMETER)

    def __setattr__(self, name: str, value: Any) -> None:
        kinds = self.__dict__.get("_kinds")
        if kinds is None:
            if isinstance(value, (Registered, Parameter, StaticParameter)):
                raise ModeError(
                    f"{type(self).__name__}.__init__ registers something before the layer is one: "
                    "write super().__init__() in its first line"
                )
        elif kinds.get(name) == COMPOSED:
            self._check_kind(name, COMPOSED, value)
        elif isinstance(value, (Parameter, StaticParameter)):
            kinds[name] = PARAMETER
        elif isinstance(value, Registered):
            kinds[name] = SUBLAYER
        elif name in kinds and value is not None:
            self._check_kind(name, kinds[name], value)
        super().__setattr__(name, value)

    def _check_kind(self, name: str, kind: str, value: Any) -> None:
        if kind == COMPOSED:
            raise ArgumentTypeError(
                f"{type(self).__name__}.{name} is a {kind}, and cannot be set: set its parts, "
                f"{', '.join(n for n in self._kinds if n.startswith(name + '_'))}"
            )
        if kind in (BUFFER, PASSING) and isinstance(value, (Tensor, Variable)):
            return
        instead = f"`del layer.{name}` first, if it is to be something else"
        if kind == PARAMETER:
            instead = f"layer.{name}.set_value(values) for other values; {instead}"
        wanted = {PARAMETER: "a parameter", SUBLAYER: "a Layer"}.get(kind, "a Tensor")
        raise ArgumentTypeError(
            f"{type(self).__name__}.{name} is a {kind}, which {wanted} or None can replace, not "
            f"{type(value).__name__}: {instead}"
        )

    def __delattr__(self, name: str) -> None:
        super().__delattr__(name)
        self._kinds.pop(name, None)

    if not TYPE_CHECKING:

        def __getattr__(self, name):
            if "_kinds" not in self.__dict__ and not name.startswith("__"):
                raise AttributeError(
                    f"{type(self).__name__!r} object has no attribute {name!r}: write "
                    "super().__init__() in the first line of its __init__"
                )
            composed = self._composed.get(name)
            if composed is not None:
                return composed(self)
            if hasattr(type(self), name):  # a property that asked for what is not there
                return object.__getattribute__(self, name)
            raise missing(self, name)

    def __dir__(self) -> list[str]:
        return sorted({*object.__dir__(self), *self._composed})

    # --- walks

    def _own(self, *kinds: str) -> Iterator[tuple[str, Any]]:
        for name, kind in list(self._kinds.items()):  # which may be edited on the way
            if kind in kinds and self.__dict__.get(name) is not None:
                yield name, self.__dict__[name]

    def named_children(self) -> Iterator[tuple[str, Layer]]:
        """(name, layer) of the sublayers that are this layer's own; each once."""
        seen = set()
        for name, layer in self._own(SUBLAYER):
            if id(layer) not in seen:
                seen.add(id(layer))
                yield name, layer

    def children(self) -> Iterator[Layer]:
        """The sublayers that are this layer's own."""
        return (layer for _, layer in self.named_children())

    def named_sublayers(
        self, prefix: str = "", include_self: bool = False, layers_set: set[Layer] | None = None
    ) -> Iterator[tuple[str, Layer]]:
        """(name, layer) of all layers inside this one; each once.

        Examples
        --------
        >>> import autograd_engine as paddle
        >>> net = paddle.nn.Sequential(paddle.nn.ReLU(), paddle.nn.Sequential(paddle.nn.Tanh()))
        >>> [name for name, _ in net.named_sublayers()]
        ['0', '1', '1.0']
        """
        seen: set[Any] = set() if layers_set is None else layers_set
        stack: list[tuple[str, Any, bool]] = [(prefix, self, include_self)]
        while stack:
            path, layer, counts = stack.pop()
            if layer in seen:
                continue
            seen.add(layer)
            if counts:
                yield path, layer
            inner = [(f"{path}.{n}" if path else n, sub, True) for n, sub in layer._own(SUBLAYER)]
            stack += reversed(inner)

    def sublayers(self, include_self: bool = False) -> list[Layer]:
        """All layers inside this one."""
        return [layer for _, layer in self.named_sublayers(include_self=include_self)]

    def _innermost_first(self, seen: set[Any]) -> Iterator[Any]:
        """All layers inside this one, each after those that it holds, and this one at the end."""
        if self not in seen:
            seen.add(self)
            for layer in self.children():
                yield from layer._innermost_first(seen)
            yield self

    def _walk(
        self, prefix: str, include_sublayers: bool, remove_duplicate: bool, *kinds: str
    ) -> Iterator[tuple[str, Any]]:
        """(full name, value)"""
        layers: list[tuple[str, Any]] = [(prefix, self)]
        if include_sublayers:
            layers = list(self.named_sublayers(prefix, include_self=True))
        seen = set()
        for path, layer in layers:
            for name, value in layer._own(*kinds):
                if not remove_duplicate or id(value) not in seen:
                    seen.add(id(value))
                    yield f"{path}.{name}" if path else name, value

    def named_parameters(
        self, prefix: str = "", include_sublayers: bool = True, remove_duplicate: bool = True
    ) -> Iterator[tuple[str, Parameter]]:
        """(name, parameter) of this layer and all inside it; one that is shared comes once.

        Examples
        --------
        >>> import autograd_engine as paddle
        >>> net = paddle.nn.Sequential(paddle.nn.Linear(2, 3), paddle.nn.ReLU())
        >>> [(name, p.shape) for name, p in net.named_parameters()]
        [('0.weight', paddle.Size([2, 3])), ('0.bias', paddle.Size([3]))]
        """
        return self._walk(prefix, include_sublayers, remove_duplicate, PARAMETER)

    def parameters(self, include_sublayers: bool = True) -> list[Parameter]:
        """All parameters: what an optimizer is given."""
        return [p for _, p in self.named_parameters(include_sublayers=include_sublayers)]

    def named_buffers(
        self, prefix: str = "", include_sublayers: bool = True, remove_duplicate: bool = True
    ) -> Iterator[tuple[str, Tensor]]:
        """(name, buffer) of this layer and all inside it."""
        return self._walk(prefix, include_sublayers, remove_duplicate, BUFFER, PASSING)

    def buffers(self, include_sublayers: bool = True) -> list[Tensor]:
        """All buffers."""
        return [b for _, b in self.named_buffers(include_sublayers=include_sublayers)]


def missing(layer: Any, name: str) -> AttributeError:
    """What to raise for an attribute that `layer` does not have."""
    text = missing_text(layer, name, "paddle.nn.Layer")
    own = ", ".join(list(layer.__dict__.get("_kinds", ()))[:8])
    if own and ";" not in text and not name.startswith("_"):
        text += f"; it has {own}"
    return AttributeError(text, name=name)
