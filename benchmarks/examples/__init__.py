"""Training steps of the examples beside the same steps in PyTorch.

``python -m benchmarks.examples`` times, for every pair of ``examples/NAME.py`` and
``benchmarks/examples/NAME_torch.py``, three candidates in turn within one process: ours eagerly,
ours under `jit.to_static` with native code, and eager PyTorch. All start from the same weights
and see the same batches, and their first losses have to agree before anything is timed.

An example is a module with the functions of `Example`; its twin has the one of `Twin`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Protocol, TypeAlias

from numpy.typing import NDArray

__all__ = ["Array", "Batch", "Example", "Twin"]

Array: TypeAlias = NDArray[Any]
# The arrays that one training step takes: images and labels, or noise and real samples.
Batch: TypeAlias = tuple[Array, ...]


class Example(Protocol):
    """What ``examples/NAME.py`` has for whoever times it; ``main`` uses the same functions."""

    def build_model(self) -> Any:
        """A layer with new parameters; several networks are a `LayerDict` of them.

        Its ``state_dict()`` is what the twin starts from. The default has no dropout, so that the
        two compute the same losses.
        """

    def make_step(self, model: Any, mode: str = "eager") -> Callable[..., Any]:
        """One whole training step as a function of the Tensors of a batch: it returns the loss.

        Forward, backward, the optimizer's step and `clear_grad`, with an optimizer of its own, as
        the example trains by default. With ``mode="static"`` the same under `jit.to_static`. Random
        numbers come in with the batch and are not drawn inside.
        """

    def sample_batches(self, count: int, seed: int = 0) -> Sequence[Batch]:
        """The first `count` batches of a training, all of one shape, as NumPy arrays."""


class Twin(Protocol):
    """What ``benchmarks/examples/NAME_torch.py`` has."""

    def make(self, weights: Mapping[str, Array], batches: Sequence[Batch]) -> Callable[[], Any]:
        """The same training step in PyTorch, written as its users write it.

        Each call of the result makes one step on the next of the batches, from the first again
        after the last, and returns the loss as a tensor. `weights` is ``state_dict()`` of the
        example's model as NumPy arrays (copy them; a `Linear` of ours is ``[in, out]``, of PyTorch
        ``[out, in]``). The same optimizer, with its fastest implementation of PyTorch
        (``fused=True`` where it has one). Convert the batches to tensors once, before the first
        step.
        """
