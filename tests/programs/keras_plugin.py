"""For pytest: Keras with keras-paddle as its backend, and ``import paddle`` being this engine."""

import sys
from types import ModuleType
from typing import Any

import pytest

from tests.programs import as_paddle_plugin, keras_backend

__all__ = ["as_paddle_plugin"]

keras_backend.install()


def _skip_if_backend(given_backend: str, reason: str) -> Any:
    return pytest.mark.skipif(given_backend == "paddle", reason=reason)


# What its tests import from the root of its repository, which is not shipped.
sys.modules["conftest"] = conftest = ModuleType("conftest")
conftest.skip_if_backend = _skip_if_backend  # type: ignore[attr-defined]
