"""What the text of `Program.to_python` is written in.

Users keep such texts, so these names stay here, whatever moves behind them.
"""

from __future__ import annotations

from autograd_engine.core.random_generator import own_generator
from autograd_engine.core.spec import Spec
from autograd_engine.ops import control_flow
from autograd_engine.ops.registry.namespace import raw
from autograd_engine.ops.registry.scattered_cotangent import dense

__all__ = ["Spec", "control_flow", "dense", "own_generator", "raw"]
