"""``import paddle`` answered by this engine: programs written for Paddle run as they are."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from importlib import import_module
from importlib.abc import Loader, MetaPathFinder
from importlib.machinery import ModuleSpec
from importlib.util import find_spec
from types import ModuleType
from typing import Any

from autograd_engine.version import full_version

__all__ = ["InstalledAsPaddle", "install_as_paddle"]

_ENGINE = __name__.partition(".")[0]
_PADDLE = "paddle"


def install_as_paddle(*, replace: bool = False) -> InstalledAsPaddle:
    """Make ``import paddle`` this engine, for this process and those that it forks.

    Modules are the same objects under both names: after it ``paddle.nn`` is ``autograd_engine.nn``,
    also where a program says ``import paddle.nn.functional as F``. ``paddle.__version__`` and
    ``paddle.version`` are those of the release of Paddle whose names these are.

    Parameters
    ----------
    replace : bool
        Also where Paddle is installed, or imported already. What has imported it keeps it.

    Returns
    -------
    InstalledAsPaddle
        Its ``uninstall()`` takes it back, as does the end of a ``with`` block.

    Raises
    ------
    ImportError
        Without `replace`, where Paddle is imported already or installed.

    Examples
    --------
    >>> import autograd_engine
    >>> with autograd_engine.install_as_paddle():
    ...     import paddle
    ...     from paddle.nn import functional as F
    >>> F is autograd_engine.nn.functional, paddle.__version__
    (True, '3.3.1')
    """
    if isinstance(sys.modules.get(_PADDLE), _Paddle):
        return InstalledAsPaddle(None, {})
    loaded = {name: module for name, module in sys.modules.items() if _is_paddle(name)}
    if not replace:
        _refuse_another(loaded.get(_PADDLE))
    for name in loaded:
        del sys.modules[name]
    finder = _Finder()
    sys.meta_path.insert(0, finder)
    import_module(_PADDLE)
    return InstalledAsPaddle(finder, loaded)


class InstalledAsPaddle:
    """What `install_as_paddle` did, and how to take it back."""

    def __init__(self, finder: MetaPathFinder | None, replaced: dict[str, ModuleType]) -> None:
        self._finder = finder
        self._replaced = replaced

    def uninstall(self) -> None:
        """``import paddle`` is again what it was.

        What has been imported stays as it is. Where it was installed before, nothing is taken back.
        """
        if self._finder is None:
            return
        sys.meta_path.remove(self._finder)
        for name in [name for name in sys.modules if _is_paddle(name)]:
            del sys.modules[name]
        sys.modules.update(self._replaced)
        self._finder = None

    def __enter__(self) -> InstalledAsPaddle:
        return self

    def __exit__(self, *exception: object) -> None:
        self.uninstall()


def _is_paddle(name: str) -> bool:
    return name.partition(".")[0] == _PADDLE


def _refuse_another(loaded: ModuleType | None) -> None:
    if loaded is not None:
        raise ImportError(
            "install_as_paddle: paddle is imported already, from "
            f"{getattr(loaded, '__file__', None)}: call it before the first `import paddle`, or "
            "say install_as_paddle(replace=True)"
        )
    found = find_spec(_PADDLE)
    if found is not None and found.origin is not None:  # a folder without __init__.py has none
        raise ImportError(
            f"install_as_paddle: Paddle is installed, in {found.origin}, and `import paddle` would "
            "no longer be it: say install_as_paddle(replace=True) if that is what you want"
        )


class _DTypeOfPaddle:
    """A dtype that the engine does not compute in: programs name it in tables of all of them.

    It equals no dtype of a tensor, and a function that is asked for it refuses it.
    """

    def __init__(self, name: str) -> None:
        self.name = name

    def __repr__(self) -> str:
        return f"{_PADDLE}.{self.name}"


_DTYPES_OF_PADDLE = {name: _DTypeOfPaddle(name) for name in ("float8_e4m3fn", "float8_e5m2")}


class _Paddle(ModuleType):
    """The module ``paddle``: the engine, under the version of the release that it stands for."""

    def __init__(self) -> None:
        super().__init__(_PADDLE, import_module(_ENGINE).__doc__)
        self.__path__: list[str] = []
        self.__version__ = full_version

    def __getattr__(self, name: str) -> Any:
        found = _DTYPES_OF_PADDLE.get(name)
        return getattr(import_module(_ENGINE), name) if found is None else found

    def __dir__(self) -> list[str]:
        return dir(import_module(_ENGINE))


class _Finder(MetaPathFinder):
    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        if not _is_paddle(fullname):
            return None
        module = _Paddle() if fullname == _PADDLE else _of_engine(fullname)
        if module is None:
            return None
        is_package = hasattr(module, "__path__")
        return ModuleSpec(fullname, _Loader(module), is_package=is_package)


def _of_engine(fullname: str) -> ModuleType | None:
    """The public module that has the name of `fullname` in the engine."""
    package = import_module(_ENGINE)
    for name in fullname.split(".")[1:]:
        if package.__name__ == _ENGINE and name not in package.__all__:
            return None
        found = getattr(package, name, None)
        if not isinstance(found, ModuleType):
            inside = f"{package.__name__}.{name}"
            if not hasattr(package, "__path__") or find_spec(inside) is None:
                return None
            found = import_module(inside)
        package = found
    return package


class _Loader(Loader):
    """Answers with a module that is there."""

    def __init__(self, module: ModuleType) -> None:
        self._module = module
        self._spec = module.__spec__

    def create_module(self, spec: ModuleSpec) -> ModuleType:
        return self._module

    def exec_module(self, module: ModuleType) -> None:
        # The import system has noted the name that it was asked for. The module is that of the
        # engine, whose own imports and reloads go by the first.
        if self._spec is not None:
            module.__spec__ = self._spec
