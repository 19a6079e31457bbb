"""Every name that programs written against the reference use resolves, and says what it is."""

from __future__ import annotations

import ast
import importlib
import inspect
import pkgutil
from types import ModuleType
from typing import Any

import pytest

import autograd_engine as paddle
from tests.over import over

NAMES = {
    "paddle": """
        enable_static disable_static in_dynamic_mode to_tensor Tensor seed no_grad
        set_grad_enabled is_grad_enabled grad ParamAttr CPUPlace set_device get_device
        set_default_dtype get_default_dtype save load create_parameter float32 float64 int32
        int64 bool uint8 is_tensor set_printoptions summary zeros ones full zeros_like ones_like
        full_like arange linspace eye rand randn randint uniform normal randperm assign tril
        triu empty add subtract multiply divide pow matmul mean sum max min argmax argmin exp
        log sqrt rsqrt square abs tanh sin cos clip maximum minimum sign floor scale add_n mod
        floor_divide dot mm bmm prod reshape transpose concat split stack squeeze unsqueeze
        flatten expand tile slice gather cast shape where topk index_select t equal not_equal
        greater_than greater_equal less_than less_equal logical_and logical_or logical_not isnan
        isfinite allclose equal_all any all enable_grad log2 log10 log1p expm1 reciprocal erf
        tan asin acos atan sinh cosh atan2 ceil round trunc floor_mod remainder kron outer inner
        einsum addmm tensordot cumsum cumprod logsumexp std var median norm dist count_nonzero
        amax amin nansum meshgrid diag diagonal trace flip roll chunk unbind unstack
        broadcast_to expand_as repeat_interleave take_along_axis put_along_axis gather_nd
        scatter scatter_nd scatter_nd_add index_add masked_select masked_fill nonzero sort
        argsort unique searchsorted histogram bincount moveaxis swapaxes rot90 lerp logit isinf
        isclose logical_xor bitwise_and bitwise_or bernoulli multinomial standard_normal
        strided_slice crop numel rank is_empty multiplex increment stanh heaviside frac flops
        cross cdist broadcast_shape finfo iinfo tolist
    """,
    "paddle.nn.functional": """
        relu sigmoid tanh softmax log_softmax gelu dropout linear conv2d max_pool2d avg_pool2d
        adaptive_avg_pool2d embedding one_hot layer_norm batch_norm cross_entropy
        softmax_with_cross_entropy square_error_cost mse_loss binary_cross_entropy pad
        leaky_relu nll_loss elu selu silu swish mish hardswish hardsigmoid hardtanh relu6
        softplus softsign softshrink hardshrink tanhshrink prelu celu thresholded_relu
        log_sigmoid glu maxout gumbel_softmax normalize group_norm instance_norm
        local_response_norm conv1d conv3d conv1d_transpose conv2d_transpose max_pool1d
        avg_pool1d adaptive_max_pool2d adaptive_avg_pool1d interpolate upsample pixel_shuffle
        unfold bilinear cosine_similarity l1_loss smooth_l1_loss kl_div
        binary_cross_entropy_with_logits margin_ranking_loss log_loss cosine_embedding_loss
        triplet_margin_loss hinge_embedding_loss dropout2d alpha_dropout label_smooth
        sequence_mask scaled_dot_product_attention grid_sample affine_grid zeropad2d
        sigmoid_focal_loss
    """,
    "paddle.nn": """
        Layer Linear Conv2D MaxPool2D AvgPool2D BatchNorm2D LayerNorm Embedding Dropout Flatten
        ReLU Sigmoid Tanh Softmax GELU Sequential LayerList CrossEntropyLoss MSELoss
        ParameterList ClipGradByGlobalNorm ClipGradByNorm ClipGradByValue Conv1D Conv3D
        Conv1DTranspose Conv2DTranspose MaxPool1D AvgPool1D AdaptiveAvgPool2D AdaptiveMaxPool2D
        BatchNorm1D BatchNorm GroupNorm InstanceNorm2D LeakyReLU PReLU ELU SELU Silu Swish Mish
        Hardswish Hardsigmoid Hardtanh ReLU6 Softplus Softsign LogSoftmax LogSigmoid Identity
        Pad2D Upsample PixelShuffle BCELoss BCEWithLogitsLoss L1Loss SmoothL1Loss NLLLoss
        KLDivLoss MarginRankingLoss Bilinear CosineSimilarity MultiHeadAttention
        TransformerEncoderLayer TransformerEncoder TransformerDecoderLayer SimpleRNN LSTM GRU
        LSTMCell GRUCell RNN BiRNN LayerDict Dropout2D Unfold
    """,
    "paddle.static": """
        Program program_guard default_main_program default_startup_program data Executor
        append_backward gradients global_scope scope_guard Scope Variable Parameter
        create_parameter create_global_var save load name_scope accuracy InputSpec cpu_places
        py_func CompiledProgram save_inference_model load_inference_model normalize_program
        load_program_state set_program_state serialize_program deserialize_program
        ExponentialMovingAverage Print auc WeightNormParamAttr device_guard
    """,
    "paddle.static.nn": """
        fc embedding conv2d batch_norm cond while_loop case switch_case layer_norm
        static_pylayer conv2d_transpose group_norm instance_norm prelu conv3d py_func
    """,
    "paddle.autograd": """
        backward PyLayer PyLayerContext saved_tensors_hooks jacobian hessian
    """,
    "paddle.optimizer": """
        SGD Momentum Adam AdamW Optimizer RMSProp Adagrad Adadelta Adamax Lamb
    """,
    "paddle.optimizer.lr": """
        LRScheduler StepDecay ExponentialDecay NoamDecay PiecewiseDecay NaturalExpDecay
        InverseTimeDecay PolynomialDecay LinearWarmup MultiStepDecay LambdaDecay ReduceOnPlateau
        CosineAnnealingDecay MultiplicativeDecay OneCycleLR CyclicLR
    """,
    "paddle.regularizer": """
        L2Decay L1Decay
    """,
    "paddle.nn.initializer": """
        Constant Normal Uniform XavierNormal XavierUniform KaimingNormal Assign TruncatedNormal
        KaimingUniform Orthogonal Dirac Bilinear calculate_gain set_global_initializer
    """,
    "paddle.utils": """
        unique_name
    """,
    "paddle.io": """
        Dataset DataLoader TensorDataset BatchSampler Subset random_split IterableDataset
    """,
    "paddle.Tensor": """
        backward grad gradient numpy item tolist shape dtype ndim size name place stop_gradient
        is_leaf clear_grad clear_gradient detach clone retain_grads register_hook set_value
        astype cast reshape transpose mean sum max min exp log sqrt abs pow matmul T t unsqueeze
        squeeze flatten add subtract multiply divide tanh __getitem__ __setitem__ __add__
        __radd__ __sub__ __rsub__ __mul__ __rmul__ __truediv__ __rtruediv__ __pow__ __neg__
        __matmul__ __eq__ __gt__ __lt__ __len__ __bool__ __float__ __int__ __repr__
        inplace_version add_ subtract_ multiply_ divide_ scale_ exp_ sqrt_ tanh_ clip_ reshape_
        squeeze_ unsqueeze_ flatten_ fill_ zero_ detach_ uniform_ normal_
    """,
    "paddle.nn.utils": """
        parameters_to_vector vector_to_parameters clip_grad_norm_ clip_grad_value_ weight_norm
    """,
    "paddle.incubate.autograd": """
        vjp jvp Jacobian Hessian
    """,
    "paddle.metric": """
        Accuracy accuracy Metric
    """,
}
EVERY = [f"{group}.{name}" for group, names in NAMES.items() for name in names.split()]


def resolved(path: str) -> Any:
    found: Any = paddle
    for name in path.split(".")[1:]:
        found = getattr(found, name)
    return found


def owner(path: str) -> str:
    return path.rpartition(".")[0]


@over("path", EVERY, by=owner)
def test_the_name_is_there(path: str) -> None:
    resolved(path)


def test_no_name_is_listed_twice() -> None:
    assert len(set(EVERY)) == len(EVERY)


# What a class has of its own, or from `object`, says nothing that a user asks for.
_SPEAK_FOR_THEMSELVES = {
    *(path for path in EVERY if path.rpartition(".")[2].startswith("__")),
}


@over("path", sorted({*EVERY} - _SPEAK_FOR_THEMSELVES), by=owner)
def test_what_is_called_says_what_it_does(path: str) -> None:
    found = resolved(path)
    if callable(found) and type(found).__name__ != "DType":
        assert (found.__doc__ or "").strip(), f"{path} has no docstring"


@pytest.mark.parametrize("group", [group for group in NAMES if group != "paddle.Tensor"])
def test_completion_offers_the_names(group: str) -> None:
    module = resolved(group)
    assert sorted({*NAMES[group].split()} - {*dir(module)}) == []


def packages() -> list[ModuleType]:
    inside = pkgutil.walk_packages(paddle.__path__, f"{paddle.__name__}.")
    return [paddle, *(importlib.import_module(m.name) for m in inside if m.ispkg)]


def named_in(package: ModuleType) -> set[str]:
    """What a package imports from elsewhere or defines, now or when it is asked for."""
    found = set()
    for node in ast.walk(ast.parse(inspect.getsource(package))):
        if isinstance(node, ast.ImportFrom) and node.module != package.__name__:
            found |= {a.asname or a.name for a in node.names}
        elif isinstance(node, ast.FunctionDef | ast.ClassDef):
            found.add(node.name)
    return found


@pytest.mark.parametrize("package", packages(), ids=lambda p: p.__name__)
def test_no_module_bears_a_public_name_of_its_package(package: ModuleType) -> None:
    """Importing it would put the module in the place of what has the name."""
    modules = {m.name for m in pkgutil.iter_modules(package.__path__)}
    bound = {n for n, v in vars(package).items() if not isinstance(v, ModuleType)}
    assert sorted(modules & (bound | named_in(package))) == []


@pytest.mark.parametrize("group", [group for group in NAMES if group != "paddle.Tensor"])
def test_what_is_exported_is_the_engines(group: str) -> None:
    """A package exports what it imports: nothing of the standard library's, none of its tools."""
    module = resolved(group)
    for name in module.__all__:
        found = getattr(module, name)
        if found is None or isinstance(found, float):  # newaxis, and numbers such as pi
            continue
        home = found.__name__ if isinstance(found, ModuleType) else found.__module__
        assert home.startswith("autograd_engine."), f"{group}.{name} is of {home}"
        assert home not in ("autograd_engine.core.lazy", "autograd_engine.bindings"), name
