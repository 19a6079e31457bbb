"""keras-paddle as the backend of a release of Keras that has its backends built in.

keras-paddle is written for a Keras that takes backends from other packages, which no release does
yet. Four modules of a release choose among those that it has; here they find one more, of which
the modules are those of keras-paddle.
"""

from __future__ import annotations

import importlib
import os
import sys
from collections.abc import Sequence
from importlib.abc import Loader, MetaPathFinder
from importlib.machinery import ModuleSpec, PathFinder, SourceFileLoader
from types import CodeType, ModuleType
from typing import Any

__all__ = ["install"]

_BACKEND = "keras_paddle_backend"
_CHOOSING = {
    "keras.src.backend",
    "keras.src.export.saved_model",
    "keras.src.layers.layer",
    "keras.src.models.model",
}


def install() -> None:
    """Before the first ``import keras`` of the process."""
    os.environ["KERAS_BACKEND"] = "paddle"
    sys.meta_path.insert(0, _Finder())


class _Finder(MetaPathFinder):
    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        if fullname.partition(".")[0] == _BACKEND:
            return ModuleSpec(fullname, _Backend(), is_package=fullname == _BACKEND)
        found = PathFinder.find_spec(fullname, path, target) if fullname in _CHOOSING else None
        if found is not None:
            found.loader = _Choosing(fullname, str(found.origin))
        return found


class _Choosing(SourceFileLoader):
    """A module that chooses, with the backend of NumPy exchanged for that of keras-paddle."""

    def get_code(self, fullname: str) -> CodeType:
        text = self.get_source(fullname) or ""
        text = text.replace('backend() == "numpy"', 'backend() == "paddle"')
        return compile(text.replace("keras.src.backend.numpy", _BACKEND), self.path, "exec")


class _Backend(Loader):
    """Has what the backend of NumPy has, under its names."""

    def create_module(self, spec: ModuleSpec) -> None:
        return None

    def exec_module(self, module: ModuleType) -> None:
        room = module.__name__.partition(".")[2]
        vars(module).update(_NAMES[room]())


def _names_of(module: str) -> dict[str, Any]:
    held = vars(importlib.import_module(f"keras_paddle.src{module}"))
    return {name: value for name, value in held.items() if not name.startswith("__")}


def _backend() -> dict[str, Any]:
    recurrent = _names_of(".rnn")
    names = ("bidirectional_gru", "bidirectional_lstm", "cudnn_ok", "gru", "lstm", "rnn")
    functions = {name: recurrent[name] for name in names}
    return _names_of(".ops.core") | _names_of(".ops") | _names_of("") | functions


def _trainer() -> dict[str, Any]:
    released = importlib.import_module("keras.src.trainers.trainer")
    released.BaseTrainer = released.Trainer  # the name that it is to have
    return {"NumpyTrainer": _names_of(".trainer")["Trainer"]}


_NAMES = {
    "": _backend,
    "core": lambda: _names_of(".ops.core") | _names_of(".variable"),
    "export": lambda: {"NumpyExportArchive": type("PaddleExportArchive", (), {})},
    "layer": lambda: {"NumpyLayer": type("PaddleLayer", (), {})},
    "trainer": _trainer,
}
