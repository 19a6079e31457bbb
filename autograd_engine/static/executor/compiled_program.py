"""The objects by which the reference says how a program is to be compiled.

Every program is compiled here when it first runs, so there is nothing to choose: they are taken,
and what they say makes no difference to any result.
"""

from __future__ import annotations

from typing import Any, ClassVar

from autograd_engine.core.checks import require_type
from autograd_engine.core.names.constructors import respelled
from autograd_engine.errors import ArgumentTypeError
from autograd_engine.program.ir.program import Program

__all__ = ["BuildStrategy", "CompiledProgram", "ExecutionStrategy"]


class _Strategy:
    """Named settings; a name that is none of them is refused."""

    __slots__ = ("_settings",)
    _settings: dict[str, Any]
    _known: ClassVar[dict[str, Any]]

    def __init__(self) -> None:
        object.__setattr__(self, "_settings", dict(self._known))

    def __getattr__(self, name: str) -> Any:
        if name == "_settings":  # while a copy is made
            raise AttributeError(name)
        try:
            return self._settings[name]
        except KeyError:
            raise self._unknown(name) from None

    def __setattr__(self, name: str, value: Any) -> None:
        if name not in self._settings:
            raise self._unknown(name)
        self._settings[name] = value

    def __setstate__(self, state: tuple[None, dict[str, Any]]) -> None:
        object.__setattr__(self, "_settings", dict(state[1]["_settings"]))

    def _unknown(self, name: str) -> AttributeError:
        from autograd_engine.static.executor.feeds import similar

        close = similar(name, self._settings)
        hint = f"did you mean {close!r}?" if close else f"it has {', '.join(self._settings)}"
        return AttributeError(f"{type(self).__name__} has no setting {name!r}; {hint}")

    def __repr__(self) -> str:
        changed = [f"{k}={v!r}" for k, v in self._settings.items() if v != self._known[k]]
        return f"{type(self).__name__}({', '.join(changed)})"


class BuildStrategy(_Strategy):
    """Accepted for the reference's sake: fusions that it names are not done, results are the same.

    Examples
    --------
    >>> strategy = BuildStrategy()
    >>> strategy.memory_optimize = True
    >>> strategy
    BuildStrategy(memory_optimize=True)
    """

    __slots__ = ()

    class ReduceStrategy:
        AllReduce = 0
        Reduce = 1
        _NoReduce = 2

    class GradientScaleStrategy:
        CoeffNumDevice = 0
        One = 1
        Customized = 2

    _known: ClassVar[dict[str, Any]] = {
        "reduce_strategy": ReduceStrategy.AllReduce,
        "gradient_scale_strategy": GradientScaleStrategy.CoeffNumDevice,
        "debug_graphviz_path": "",
        "num_trainers": 1,
        "trainer_id": 0,
        "trainers_endpoints": [],
    } | dict.fromkeys(
        (
            "allow_cuda_graph_capture",
            "async_mode",
            "build_cinn_pass",
            "cache_runtime_context",
            "enable_addto",
            "enable_auto_fusion",
            "enable_backward_optimizer_op_deps",
            "enable_inplace",
            "enable_sequential_execution",
            "fix_op_run_order",
            "fuse_adamw",
            "fuse_all_optimizer_ops",
            "fuse_all_reduce_ops",
            "fuse_bn_act_ops",
            "fuse_bn_add_act_ops",
            "fuse_broadcast_ops",
            "fuse_elewise_add_act_ops",
            "fuse_gemm_epilogue",
            "fuse_relu_depthwise_conv",
            "fused_attention",
            "fused_feedforward",
            "is_distribution",
            "memory_optimize",
            "remove_unnecessary_lock",
            "sequential_run",
            "sync_batch_norm",
            "use_hierarchical_allreduce",
        ),
        False,
    )


class ExecutionStrategy(_Strategy):
    """Accepted for the reference's sake: a program runs on the thread that runs it.

    Examples
    --------
    >>> ExecutionStrategy().num_threads
    1
    """

    __slots__ = ()
    _known: ClassVar[dict[str, Any]] = {
        "num_threads": 1,
        "num_iteration_per_drop_scope": 1,
        "num_iteration_per_run": 1,
        "allow_op_delay": False,
        "use_thread_barrier": False,
        "use_experimental_executor": False,
    }


@respelled
class CompiledProgram:
    """A program that an `Executor` runs as it runs the program itself.

    Parameters
    ----------
    program_or_graph : Program
    build_strategy : BuildStrategy, optional

    Raises
    ------
    TypeError

    Examples
    --------
    >>> import numpy as np
    >>> import autograd_engine as paddle
    >>> main = paddle.static.Program()
    >>> with paddle.static.program_guard(main):
    ...     y = paddle.static.data("x", [2], "float32") * 2.0
    >>> compiled = paddle.static.CompiledProgram(main)
    >>> paddle.static.Executor().run(compiled, {"x": np.ones(2, "float32")}, [y])
    [array([2., 2.], dtype=float32)]
    """

    def __init__(
        self, program_or_graph: Program, build_strategy: BuildStrategy | None = None
    ) -> None:
        require_type(
            program_or_graph, Program, "CompiledProgram: program_or_graph must be a Program"
        )
        if build_strategy is not None and not isinstance(build_strategy, BuildStrategy):
            raise ArgumentTypeError(
                "CompiledProgram: build_strategy must be a BuildStrategy, got "
                f"{type(build_strategy).__name__}"
            )
        self.program = program_or_graph
        self.build_strategy = build_strategy or BuildStrategy()

    def __repr__(self) -> str:
        return f"CompiledProgram({len(self.program.global_block().ops)} operators)"
