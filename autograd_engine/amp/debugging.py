"""``paddle.amp.debugging``: which dtypes operations run in, and what is not finite there."""

from autograd_engine.amp.accuracy_compare import compare_accuracy
from autograd_engine.amp.operator_stats import (
    OperatorStats,
    collect_operator_stats,
    disable_operator_stats_collection,
    enable_operator_stats_collection,
)
from autograd_engine.amp.tensor_checker import (
    DebugMode,
    TensorCheckerConfig,
    check_layer_numerics,
    check_numerics,
    disable_tensor_checker,
    enable_tensor_checker,
)

__all__ = [
    "DebugMode",
    "OperatorStats",
    "TensorCheckerConfig",
    "check_layer_numerics",
    "check_numerics",
    "collect_operator_stats",
    "compare_accuracy",
    "disable_operator_stats_collection",
    "disable_tensor_checker",
    "enable_operator_stats_collection",
    "enable_tensor_checker",
]
