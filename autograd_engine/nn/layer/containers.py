"""Layers that hold layers, or parameters."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from types import FunctionType
from typing import Any, Final, overload

from autograd_engine.eager.tensor import Parameter, Tensor
from autograd_engine.errors import ArgumentError, ArgumentTypeError
from autograd_engine.nn.layer.base.layer import Layer
from autograd_engine.nn.layer.base.registered import PARAMETER, SUBLAYER
from autograd_engine.program.ir.program import Parameter as StaticParameter

__all__ = ["LayerDict", "LayerList", "ParameterDict", "ParameterList", "Sequential"]


class _Container(Layer):
    """Elements of one kind, under their names."""

    _element = SUBLAYER

    def _names(self) -> list[str]:
        return [name for name, kind in self._kinds.items() if kind == self._element]

    def _elements(self) -> list[Any]:
        return [self.__dict__[name] for name, kind in self._kinds.items() if kind == self._element]

    def _remove(self, names: list[str]) -> None:
        for name in names:
            delattr(self, name)

    def __len__(self) -> int:
        return len(self._names())


class _Numbered(_Container):
    """Elements under the names "0", "1", and so on.

    Raises
    ------
    TypeError, IndexError
    """

    def __iter__(self) -> Iterator[Any]:
        return iter(self._elements())

    def _position(self, index: Any) -> int:
        kind = type(self).__name__
        if isinstance(index, bool) or not hasattr(index, "__index__"):
            raise ArgumentTypeError(f"{kind}: an index must be an int, got {type(index).__name__}")
        number, size = int(index.__index__()), len(self)
        if not -size <= number < size:
            raise IndexError(f"{kind}: index {number} is out of range; it has {size} elements")
        return number % size

    def _insert(self, index: Any, value: Any) -> None:
        held = self._elements()
        held.insert(len(held) if index == len(held) else self._position(index), value)
        self._replace(held)

    def _replace(self, values: list[Any]) -> None:
        """Hold these values, numbered anew."""
        self._remove(self._names())
        for k, value in enumerate(values):
            self._put(str(k), value, self._element)


def _layers(where: str, values: Any) -> list[Layer]:
    if isinstance(values, Layer) and not isinstance(values, _Numbered):
        raise ArgumentTypeError(f"{where} takes a list of layers, got one; write [layer]")
    if not isinstance(values, Iterable):
        raise ArgumentTypeError(f"{where} takes a list of layers, got {type(values).__name__}")
    return [_layer(where, given) for given in values]


def _layer(where: str, value: Any) -> Layer:
    if not isinstance(value, Layer):
        made = ": call it, for it is the class" if isinstance(value, type) else ""
        if isinstance(value, FunctionType):
            made = ": functions have layers of their own, as nn.ReLU() is that of relu"
        raise ArgumentTypeError(
            f"{where} takes layers, got "
            f"{value.__name__ if isinstance(value, type) else type(value).__name__}{made}"
        )
    return value


class Sequential(_Numbered):
    """Layers, each applied to what the one before returned.

    Parameters
    ----------
    *layers : Layer, or (str, Layer), or one dict or list of these
        Without names they are numbered. Where a layer returns a tuple, the next gets it as it is.

    Raises
    ------
    TypeError, ArgumentError

    Examples
    --------
    >>> import autograd_engine as paddle
    >>> net = Sequential(paddle.nn.Linear(2, 3), paddle.nn.ReLU())
    >>> net(paddle.ones([4, 2])).shape
    paddle.Size([4, 3])
    >>> net
    Sequential(
      (0): Linear(in_features=2, out_features=3, dtype=float32)
      (1): ReLU()
    )
    """

    def __init__(self, *layers: Any) -> None:
        super().__init__()
        for name, layer in _named_layers(layers):
            self.add_sublayer(name, layer)

    def forward(self, input: Any) -> Tensor:
        for layer in self._elements():
            input = layer(input)
        return input

    @overload
    def __getitem__(self, key: slice) -> Sequential: ...
    @overload
    def __getitem__(self, key: int | str) -> Any: ...
    def __getitem__(self, key: Any) -> Any:
        if isinstance(key, slice):
            names = self._names()[key]
            return Sequential(*((name, self.__dict__[name]) for name in names))
        if isinstance(key, str):
            if key not in self._names():
                raise KeyError(f"Sequential: no layer {key!r}; it has {', '.join(self._names())}")
            return self.__dict__[key]
        return self._elements()[self._position(key)]

    def __setitem__(self, key: int | str, layer: Layer) -> None:
        name = key if isinstance(key, str) else self._names()[self._position(key)]
        self.add_sublayer(name, _layer("Sequential", layer))

    def __delitem__(self, key: int | str | slice) -> None:
        if isinstance(key, slice):
            self._remove(self._names()[key])
            return
        name = key if isinstance(key, str) else self._names()[self._position(key)]
        if name not in self._names():
            raise KeyError(f"Sequential: no layer {name!r}")
        delattr(self, name)

    def insert(self, index: int, layer: Layer) -> Sequential:
        """One more layer before the one at `index`; returns the container.

        All are numbered anew.
        """
        named = [name for name in self._names() if not name.isdigit()]
        if named:
            raise ArgumentError(
                f"Sequential.insert numbers the layers anew, and these have names: "
                f"{', '.join(named)}; make another Sequential"
            )
        self._insert(index, _layer("Sequential.insert", layer))
        return self

    def extend(self, layers: Iterable[Layer]) -> Sequential:
        """More layers at the end; returns the container."""
        for layer in _layers("Sequential.extend", layers):
            self.append(layer)
        return self

    def append(self, layer: Layer) -> Sequential:
        """One more layer at the end; returns the container."""
        name = len(self)
        while str(name) in self._kinds:
            name += 1
        self.add_sublayer(str(name), _layer("Sequential.append", layer))
        return self


def _named_layers(layers: tuple[Any, ...]) -> list[tuple[str, Layer]]:
    if len(layers) == 1 and isinstance(layers[0], Mapping):
        layers = tuple(layers[0].items())
    elif len(layers) == 1 and isinstance(layers[0], list):
        layers = tuple(layers[0])
    found: list[tuple[str, Layer]] = []
    for k, given in enumerate(layers):
        name, layer = given if isinstance(given, (tuple, list)) and len(given) == 2 else (k, given)
        found.append((str(name), _layer("Sequential", layer)))
    names = [name for name, _ in found]
    if len(set(names)) < len(names):
        twice = next(name for name in names if names.count(name) > 1)
        raise ArgumentError(f"Sequential: two layers are called {twice!r}; give each its own name")
    return found


class LayerList(_Numbered):
    """A list of layers, which `forward` of the layer around it calls as it likes.

    Parameters
    ----------
    sublayers : iterable of Layer, optional

    Examples
    --------
    >>> import autograd_engine as paddle
    >>> layers = LayerList([paddle.nn.Linear(2, 2) for _ in range(3)])
    >>> len(layers), len(layers[1:]), len(layers.append(paddle.nn.ReLU()).parameters())
    (3, 2, 6)
    """

    def __init__(self, sublayers: Iterable[Layer] | None = None) -> None:
        super().__init__()
        self.extend([] if sublayers is None else sublayers)

    @overload
    def __getitem__(self, key: slice) -> LayerList: ...
    @overload
    def __getitem__(self, key: int) -> Any: ...
    def __getitem__(self, key: Any) -> Any:
        if isinstance(key, slice):
            return LayerList(self._elements()[key])
        return self._elements()[self._position(key)]

    def __setitem__(self, key: int, sublayer: Layer) -> None:
        self._put(str(self._position(key)), _layer("LayerList", sublayer), SUBLAYER)

    def __delitem__(self, key: int | slice) -> None:
        held = self._elements()
        del held[key if isinstance(key, slice) else self._position(key)]
        self._replace(held)

    def append(self, sublayer: Layer) -> LayerList:
        """One more layer at the end; returns the list."""
        self._put(str(len(self)), _layer("LayerList.append", sublayer), SUBLAYER)
        return self

    def insert(self, index: int, sublayer: Layer) -> None:
        """One more layer before the one at `index`."""
        self._insert(index, _layer("LayerList.insert", sublayer))

    def extend(self, sublayers: Iterable[Layer]) -> LayerList:
        """More layers at the end; returns the list."""
        for sublayer in _layers("LayerList", sublayers):
            self.append(sublayer)
        return self

    def pop(self, index: int = -1) -> Any:
        """Take a layer out, and return it."""
        layer = self[index]
        del self[index]
        return layer

    def __iadd__(self, sublayers: Iterable[Layer]) -> LayerList:
        return self.extend(sublayers)

    def __add__(self, sublayers: Iterable[Layer]) -> LayerList:
        return LayerList([*self, *_layers("LayerList", sublayers)])


class ParameterList(_Numbered):
    """A list of parameters.

    Parameters
    ----------
    parameters : iterable of Parameter, optional

    Examples
    --------
    >>> import autograd_engine as paddle
    >>> weights = ParameterList([paddle.create_parameter([2, 3]) for _ in range(2)])
    >>> [name for name, _ in weights.named_parameters()]
    ['0', '1']
    """

    _element = PARAMETER

    def __init__(self, parameters: Iterable[Any] | None = None) -> None:
        super().__init__()
        for parameter in [] if parameters is None else parameters:
            self.append(parameter)

    def __getitem__(self, key: int) -> Any:
        return self._elements()[self._position(key)]

    def __setitem__(self, key: int, parameter: Any) -> None:
        self._put(str(self._position(key)), _parameter("ParameterList", parameter), PARAMETER)

    def append(self, parameter: Any) -> ParameterList:
        """One more parameter at the end; returns the list."""
        self._put(str(len(self)), _parameter("ParameterList", parameter), PARAMETER)
        return self


def _parameter(where: str, value: Any) -> Any:
    if not isinstance(value, (Parameter, StaticParameter)):
        raise ArgumentTypeError(
            f"{where} takes parameters, got {type(value).__name__}: make them with "
            "create_parameter(shape)"
        )
    return value


_CHECKED: Final = {SUBLAYER: _layer, PARAMETER: _parameter}


class _Named(_Container):
    """Elements under names of the user's.

    Raises
    ------
    TypeError, KeyError
    """

    def __init__(self, elements: Any = None) -> None:
        super().__init__()
        self.update({} if elements is None else elements)

    def _require(self, key: Any) -> str:
        if key not in self._names():
            have = ", ".join(self._names())
            raise KeyError(f"{type(self).__name__}: no {self._element} {key!r}; it has {have}")
        return str(key)

    def __getitem__(self, key: str) -> Any:
        return self.__dict__[self._require(key)]

    def __setitem__(self, key: str, element: Any) -> None:
        where = type(self).__name__
        self._check_name(where, key, self._element)
        self._put(key, _CHECKED[self._element](where, element), self._element)

    def __delitem__(self, key: str) -> None:
        delattr(self, self._require(key))

    def __iter__(self) -> Iterator[str]:
        return iter(self._names())

    def __contains__(self, key: object) -> bool:
        return key in self._names()

    def keys(self) -> list[str]:
        """The names."""
        return self._names()

    def values(self) -> list[Any]:
        """What is held."""
        return self._elements()

    def items(self) -> list[tuple[str, Any]]:
        """(name, element)"""
        return list(zip(self._names(), self._elements(), strict=True))

    def pop(self, key: str) -> Any:
        """Take an element out, and return it."""
        element = self[key]
        del self[key]
        return element

    def clear(self) -> None:
        """Take all elements out."""
        self._remove(self._names())

    def update(self, elements: Any) -> None:
        """Add elements, or replace those of the same names."""
        pairs = elements.items() if isinstance(elements, (Mapping, _Named)) else elements
        where = type(self).__name__
        if not isinstance(pairs, Iterable):
            raise ArgumentTypeError(
                f"{where} takes a dict, or a list of (name, element); got {type(elements).__name__}"
            )
        for pair in pairs:
            if not isinstance(pair, (tuple, list)) or len(pair) != 2:
                raise ArgumentTypeError(f"{where} takes pairs (name, element), got {pair!r}")
            self[pair[0]] = pair[1]


class LayerDict(_Named):
    """Layers under names of the user's.

    Parameters
    ----------
    sublayers : dict of str to Layer, or list of (str, Layer), optional

    Examples
    --------
    >>> import autograd_engine as paddle
    >>> heads = LayerDict({"mean": paddle.nn.Linear(2, 1), "scale": paddle.nn.Linear(2, 1)})
    >>> list(heads), heads["mean"](paddle.ones([3, 2])).shape
    (['mean', 'scale'], paddle.Size([3, 1]))
    """

    def __init__(self, sublayers: Any = None) -> None:
        super().__init__(sublayers)

    def update(self, sublayers: Any) -> None:
        """Add layers, or replace those of the same names."""
        super().update(sublayers)


class ParameterDict(_Named):
    """Parameters under names of the user's.

    Parameters
    ----------
    parameters : dict of str to Parameter, or list of (str, Parameter), optional

    Examples
    --------
    >>> import autograd_engine as paddle
    >>> weights = ParameterDict({"left": paddle.create_parameter([2, 3])})
    >>> weights["right"] = paddle.create_parameter([3, 1])
    >>> [(name, w.shape) for name, w in weights.named_parameters()]
    [('left', paddle.Size([2, 3])), ('right', paddle.Size([3, 1]))]
    """

    _element = PARAMETER

    def __init__(self, parameters: Any = None) -> None:
        super().__init__(parameters)

    def update(self, parameters: Any) -> None:
        """Add parameters, or replace those of the same names."""
        super().update(parameters)
