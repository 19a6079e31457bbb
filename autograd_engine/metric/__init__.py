"""How good a model is: measures of a batch, and of many."""

from autograd_engine.metric.metrics import Accuracy, Auc, Metric, Precision, Recall, accuracy

__all__ = ["Accuracy", "Auc", "Metric", "Precision", "Recall", "accuracy"]


def __dir__() -> list[str]:
    return __all__
