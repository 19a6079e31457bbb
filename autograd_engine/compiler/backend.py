"""Backends: which there are, what they make of a program, and what the executor asks of that.

One more backend is one more entry of `BACKENDS`, and a module with its function. The executor knows
none by name: what it must know of what was compiled stands in `Compiled` and `Bound`.
"""

from __future__ import annotations

import importlib
import importlib.util
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, Final, Literal, NamedTuple, Protocol

import numpy as np

from autograd_engine.core.far_array import FarArray
from autograd_engine.core.spec import Array, Spec
from autograd_engine.program.ir.program import Operator, Ref
from autograd_engine.program.scope_state import Memory

__all__ = [
    "AUTO",
    "AUTO_ON_DEVICE",
    "BACKENDS",
    "Backend",
    "Bound",
    "Compiled",
    "HostArrays",
    "Keeping",
    "Listing",
    "Placement",
    "VARIABLE",
]


class Backend(NamedTuple):
    """One way to run a program for certain sizes.

    Attributes
    ----------
    name : str
        As users write it.
    label : str
        As reports show it.
    module, function : str
        What compiles; not imported before a program is.
    takes : {"graph", "listing"}
        What the function is given. "graph": a `Graph` of primitive operations, and a name.
        "listing": a `Listing` of operators, of a backend that runs control flow itself.
    otherwise : tuple of str
        Backends that are asked where this one cannot.
    late : bool
        Whether it runs operators that need not be done in their place (`late` of an operation).
    keeps : bool
        Whether arrays may stay where it runs, see `Keeping`.
    devices : str
        The module that knows devices which it alone reaches; empty where it reaches none.
    library : str
        What must be installed for it, which is also the name of the extra that does; empty where
        nothing must.
    """

    name: str
    label: str
    module: str
    function: str
    takes: Literal["graph", "listing"] = "graph"
    otherwise: tuple[str, ...] = ()
    late: bool = False
    keeps: bool = False
    devices: str = ""
    library: str = ""

    def load(self) -> Callable[..., Compiled]:
        """The function that compiles."""
        found: Callable[..., Compiled] = getattr(
            importlib.import_module(self.module), self.function
        )
        return found

    @property
    def missing(self) -> str:
        """What to install before it can be used; empty where it can."""
        if not self.library or importlib.util.find_spec(self.library) is not None:
            return ""
        return f"pip install 'autograd-engine[{self.library}]'"


BACKENDS: Final[dict[str, Backend]] = {
    b.name: b
    for b in (
        Backend(
            "native",
            "native code",
            "autograd_engine.compiler.native",
            "compile_native",
            otherwise=("numpy",),
        ),
        Backend(
            "numpy",
            "NumPy, with planned memory",
            "autograd_engine.compiler.planned",
            "compile_planned",
        ),
        Backend(
            "jax",
            "XLA, by way of jax.jit",
            "autograd_engine.compiler.xla",
            "compile_listing",
            takes="listing",
            otherwise=("numpy",),
            late=True,
            keeps=True,
            devices="autograd_engine.compiler.xla.devices",
            library="jax",
        ),
    )
}
"""By their names."""

AUTO: Final = ("native", "numpy")
"""Which are asked, in this order, where the choice is left to the engine, for the CPU."""

AUTO_ON_DEVICE: Final = (*(b.name for b in BACKENDS.values() if b.devices), *AUTO)
"""The same where `set_device` has chosen another device."""

VARIABLE: Final = "AUTOGRAD_ENGINE_BACKEND"
"""The environment variable that chooses for the engine."""


@dataclass(eq=False)
class Listing:
    """Operators of a plan, for inputs of certain Specs.

    Attributes
    ----------
    name : str
    operators : sequence of Operator
        In order. Gradient operators have their pullbacks, those of control flow their blocks.
    inputs : sequence of Ref
    specs : sequence of Spec
        Of the inputs, with true shapes; a `ValueSpec` where it is compiled for that value alone.
    outputs : sequence of Ref
    updates : dict of int to int
        See `Compiled`.
    described : sequence of Ref
        Values that are not returned: of these `Compiled.described` has the Specs.
    """

    name: str
    operators: Sequence[Operator]
    inputs: Sequence[Ref]
    specs: Sequence[Spec]
    outputs: Sequence[Ref]
    updates: dict[int, int]
    described: Sequence[Ref] = field(default_factory=tuple)


class Placement(NamedTuple):
    """Where an operation of a program runs, and why there; see `Executor.explain`.

    Attributes
    ----------
    operation : str
    where : str
        "fused loop", "BLAS", "kernel", "NumPy", ...
    why : str
        Empty where there is nothing to say.
    line : str
        The user's.
    """

    operation: str
    where: str
    why: str
    line: str


class Compiled(Protocol):
    """A program compiled: sizes are fixed, values are not.

    Attributes
    ----------
    backend : str
    exact : bool
        Whether results have the bits of eager mode. It is for operands that lie row by row, for
        those of another layout may have others.
    one_call : bool
        Whether a bound run writes its state in one call, which no KeyboardInterrupt cuts in two.
    keeps : bool
        Whether arrays may stay where it runs: it is a `Keeping`, and what a bound run returns are
        far arrays.
    updates : dict of int to int
        Position of an output to the position of the input that it is the new value of, and whose
        memory it may take: a parameter after a step, and before.
    source : str
        The text that was generated.
    described : sequence of Spec
        Those that a `Listing` asks for.
    """

    backend: str
    exact: bool
    one_call: bool
    keeps: bool
    updates: dict[int, int]
    source: str

    @property
    def described(self) -> Sequence[Spec]: ...

    def __call__(self, *arrays: Array) -> tuple[Array, ...]:
        """The outputs as arrays of their own; nothing that was given is written.

        Several threads may call at once.
        """

    def bind(self, arrays: Sequence[Array]) -> Bound:
        """A run on these very arrays, those of `updates` written in place; see `Bound`."""

    def placements(self) -> list[Placement]:
        """Where each operation runs."""


class Keeping(Compiled, Protocol):
    """A program whose arrays stay where it runs, from one call to the next."""

    def step(self, arrays: Sequence[Array | FarArray]) -> list[FarArray]:
        """The outputs, given the arrays of Tensors, wherever they are.

        What `updates` names is written over where only one has it, and that is the output; else a
        copy is. Where it raises, all is as it was.
        """


class Bound(Protocol):
    """A run on fixed memory: of one thread at a time.

    Inputs that `updates` names are the state. It lies wherever the backend keeps it: in the arrays
    that were given, in others (all parameters in one block, say), or on a device.

    Attributes
    ----------
    arrays : list
        Of each input what has its `shape` and `dtype`.
    shares : bool
        Whether a run reads the memory that was fed, with all that was written to it since.
    """

    arrays: list[Any]
    shares: bool

    def feed(self, position: int, array: Array, stays: bool = False) -> None:
        """Put another array of the same Spec in the place of an input that is no state.

        One that `stays` is a Tensor's: nobody writes to it as long as it is here.
        """

    def state_at(self, position: int) -> Memory:
        """Where an input lies that is part of the state."""

    def __call__(self) -> list[Array | FarArray]:
        """Run; the outputs that are no updates, as arrays of their own, in order.

        It writes the state only when nothing can fail any more.
        """


class HostMemory:
    """An ndarray as memory of a step."""

    __slots__ = ("array",)

    def __init__(self, array: Array) -> None:
        self.array = array

    def read(self) -> Array:
        return self.array.copy()

    def write(self, array: Array) -> None:
        np.copyto(self.array, array)


class HostArrays:
    """What a `Bound` has whose state is ndarrays, its `arrays`."""

    arrays: list[Array]
    shares = True

    def state_at(self, position: int) -> HostMemory:
        return HostMemory(self.arrays[position])
