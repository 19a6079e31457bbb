"""Layers of normalisation."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, ClassVar

from autograd_engine.dtypes import DTypeLike
from autograd_engine.errors import ArgumentError, ShapeError
from autograd_engine.nn import functional as F
from autograd_engine.nn.initializer import Constant, Normal
from autograd_engine.nn.layer.arguments import (
    Plain,
    axis_number,
)
