"""What the text of `Program.to_python` is written in.

Users keep such texts, so these names stay here, whatever moves behind them.
"""

from __future__ import annotations

from autograd_engine.generator import own_generator
from autograd_engine.kernels import control_flow
from autograd_engine.namespace import raw
from autograd_engine.scattered import dense
from autograd_engine.spec import Spec

__all__ = ["Spec", "control_flow", "dense", "own_generator", "raw"]
