"""Families of layers: one class for sequences, one for images, one for volumes."""

from __future__ import annotations

import inspect
from string import Template
from types import FunctionType
from typing import Any, ClassVar, Final

from autograd_engine.core.names.constructors import respelled
from autograd_engine.nn.functional.window_arguments import IMAGE_LAYOUTS

__all__ = ["Spatial"]

_WORDS: Final = {
    1: {
        "image": "sequence",
        "ints": "int",
        "bins": "int",
        "pads": "int, two ints (before, after)",
        "ends": "left, right",
        "window": "k",
    },
    2: {
        "image": "image",
        "ints": "int or two ints",
        "bins": "int, or two ints or None",
        "pads": "int, two ints, four ints",
        "ends": "left, right, top, bottom",
        "window": "kh, kw",
    },
    3: {
        "image": "volume",
        "ints": "int or three ints",
        "bins": "int, or three ints or None",
        "pads": "int, three ints, six ints",
        "ends": "left, right, top, bottom, front, back",
        "window": "kd, kh, kw",
    },
}


class Spatial:
    """What a family has in common.

    ``class Conv2D(Conv, axes=2, function=F.conv2d)`` is the member for images. It has the
    constructor of the family, with their layout as the default of `data_format`. Its docstring is
    one paragraph, after which come the sections of the family, in which ``$n``, ``$image`` and so
    on stand for its own words and ``$name`` for its name.
    """

    _axes: ClassVar[int]
    _layouts: ClassVar[tuple[str, ...]]
    _sections: ClassVar[str]

    def __init_subclass__(cls, axes: int | None = None, **kwargs: Any) -> None:
        if axes is not None:
            cls._specialize(axes)
        super().__init_subclass__(**kwargs)

    @classmethod
    def _specialize(cls, axes: int) -> None:
        cls._axes = axes
        if "_layouts" not in vars(cls):
            cls._layouts = IMAGE_LAYOUTS[axes]
        if "__init__" not in vars(cls):
            init = _with_layout(inspect.unwrap(cls.__init__), cls._layouts[0])
            init.__qualname__ = f"{cls.__qualname__}.__init__"
            cls.__init__ = init  # type: ignore[method-assign]
            respelled(cls)
        if cls.__doc__ is not None:  # there are none under python -OO
            sections = Template(cls._sections).substitute(_words(cls, axes))
            cls.__doc__ = f"{cls.__doc__.rstrip()}\n{sections}"

    def _form(self) -> str:
        """How a message says what an image is."""
        first, last = map(", ".join, IMAGE_LAYOUTS[self._axes])
        return f"[{first}] (or [{last}], as data_format says)"


def _with_layout(init: Any, layout: str) -> FunctionType:
    """The function `init` with that default of `data_format`."""
    code, defaults = init.__code__, init.__defaults__ or ()
    names = code.co_varnames[code.co_argcount - len(defaults) : code.co_argcount]
    own = {**dict(zip(names, defaults, strict=True)), **(init.__kwdefaults__ or {})}
    own["data_format"] = layout
    made = FunctionType(
        code,
        init.__globals__,
        init.__name__,
        tuple(own[name] for name in names),
        init.__closure__,
    )
    made.__kwdefaults__ = {name: own[name] for name in init.__kwdefaults__ or ()}
    made.__annotations__ = init.__annotations__
    return made


def _words(cls: type[Spatial], axes: int) -> dict[str, str]:
    return {
        "name": cls.__name__,
        "n": str(axes),
        "layout": cls._layouts[0],
        "layouts": ", ".join(f'"{layout}"' for layout in cls._layouts),
        "thin": "1, " * (axes - 1),  # the axes of space before the last
        "twos": ", ".join("2" * axes),
        "fours": ", ".join("4" * axes),
        "fives": ", ".join("5" * axes),
        **_WORDS[axes],
    }
