"""Convolutions, which XLA has; their adjoints follow by their rules."""

from __future__ import annotations

from typing import Any

from jax import lax

from autograd_engine.compiler.xla.rows import row
from autograd_engine.compiler.xla.run import Run


@row("conv")
def _conv(
    run: Run, x: Any, w: Any, *, stride: Any, padding: Any, dilation: Any, groups: int
) -> Any:
    return lax.conv_general_dilated(
        x, w, stride, padding, rhs_dilation=dilation, feature_group_count=groups
    )
