"""Wrong arguments of the eager engine's own functions: what is raised says what to type instead.

The public functions of arrays are in `test_bad_input`; this is about gradients, hooks, layers,
checks, and what looks at a graph.
"""

import copy
import pickle
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

import autograd_engine as paddle
from autograd_engine.errors import EagerOnlyError, ModeError
from tests.over import before, over

A = paddle.autograd
testing = paddle.testing

NUMBERS = np.ones(2)
VALUE, TYPE, ASSERT, RUN = ValueError, TypeError, AssertionError, RuntimeError


def leaf(dtype: str = "float32", size: int = 2) -> Any:
    return paddle.to_tensor(np.arange(1, size + 1).astype(dtype), stop_gradient=False)


def plain() -> Any:
    return paddle.to_tensor([1.0, 2.0])


def wide() -> Any:
    return leaf("float64")


def loss(x: Any) -> Any:
    return (x * x).sum()


def double(x: Any) -> Any:
    return x * 2.0


ONES3 = paddle.ones([3])
X, Y = leaf(), double(leaf())


def layer(forward: Any = lambda ctx, x: x * 2.0, backward: Any = lambda ctx, g: g * 2.0) -> Any:
    members = {"forward": staticmethod(forward), "backward": staticmethod(backward)}
    return type("Layer", (A.PyLayer,), members)


def through(made: Any) -> None:
    made.apply(leaf()).sum().backward()


def context(use: Callable[[Any, Any], Any]) -> None:
    """Call `use` with the context and the operand in forward."""

    def forward(ctx: Any, x: Any) -> Any:
        use(ctx, x)
        return x * 2.0

    layer(forward).apply(leaf())


def hooked(result: Any) -> None:
    x = leaf()
    x.register_hook(lambda g: result)
    loss(x).backward()


def unpacked(result: Any) -> None:
    with A.saved_tensors_hooks(lambda x: x, lambda x: result):
        y = loss(leaf())
    y.backward()


def op(kernel: Any = lambda x: x * 2.0, rule: Any = lambda xp, g: g * 2.0, **options: Any) -> Any:
    made = A.defop("my_op", kernel, **{"inputs": "x"} | options)
    return made.vjp(x=rule) if rule is not None else made


def freed() -> Any:
    y = loss(leaf())
    y.backward()
    return y


def again(call: Callable[[], Any]) -> None:
    call()
    call()


def left(manager: Any) -> None:
    manager.__exit__(None, None, None)


def kept_context() -> Any:
    found = []
    layer(lambda ctx, x: (ctx.save_for_backward(x), found.append(ctx), x * 2.0)[2]).apply(leaf())
    return found[0]


async def waits() -> None: ...


def ask(name: str, call: Callable[[], Any], kinds: Any, hint: str) -> Any:
    return pytest.param(call, kinds, hint, id=name)


def flags(
    name: str, call: Callable[[Any], Any], values: Any = (1, "x", [], NUMBERS)
) -> Iterator[Any]:
    """A switch that takes True and False and nothing else."""
    for value in values:
        yield ask(f"{name} {type(value).__name__}", lambda v=value: call(v), VALUE, "True or False")


def every(name: str, call: Callable[[Any], Any], kinds: Any, hint: str) -> Iterator[Any]:
    for value in (None, 1, 1.5, "x", [1], np.ones(2), object()):
        yield ask(f"{name} {type(value).__name__}", lambda v=value: call(v), kinds, hint)


MANAGERS = (
    paddle.no_grad,
    paddle.enable_grad,
    paddle.inference_mode,
    paddle.strong_zeros,
    A.detect_anomaly,
    A.save_on_disk,
)
TENSORS = "must be a Tensor or a list of Tensors, got|must hold Tensors|must be a Tensor, got"

CALLS = [
    # backward
    *every("backward", A.backward, (TYPE, ASSERT), TENSORS),
    ask("backward []", lambda: A.backward([]), VALUE, "tensors cannot be empty"),
    ask("backward twice named", lambda: A.backward([Y, Y]), VALUE, "name it once, with twice"),
    ask("backward count", lambda: A.backward([Y], [None, None]), VALUE, "give one each, None for"),
    ask("backward ndarray", lambda: A.backward([Y], [np.ones(2)]), TYPE, "use paddle.to_tensor"),
    ask("backward shape", lambda: double(X).backward(ONES3), VALUE, "they must be equal"),
    ask("backward shape, kind", lambda: double(X).backward(ONES3), ASSERT, "they must be equal"),
    ask("backward freed", lambda: again(freed().backward), RUN, "with retain_graph=True"),
    ask("backward path", lambda: loss(X).backward(dump_backward_graph_path=1), VALUE, "be a str"),
    *flags("backward retain", lambda v: loss(X).backward(None, v)),
    *flags("backward create", lambda v: loss(X).backward(create_graph=v)),
    # grad
    *every("grad outputs", lambda v: paddle.grad(v, X), (TYPE, ASSERT), TENSORS),
    *every("grad inputs", lambda v: paddle.grad(loss(X), v), (TYPE, ASSERT), TENSORS),
    ask("grad no inputs", lambda: paddle.grad(loss(X), []), VALUE, "inputs cannot be empty"),
    ask("grad twice", lambda: paddle.grad(loss(X), [X, X]), VALUE, "leave the second one out"),
    ask("grad unused", lambda: paddle.grad(loss(X), leaf()), VALUE, "Pass allow_unused=True"),
    ask("grad stopped", lambda: paddle.grad(loss(X), plain()), RUN, "stop_gradient is True"),
    ask("grad seed", lambda: paddle.grad(double(X), X, ONES3), VALUE, "they must be equal"),
    ask("grad seed number", lambda: paddle.grad(loss(X), X, 1.0), TYPE, "must be None, a Tensor"),
    ask("grad no_grad_vars", lambda: paddle.grad(loss(X), X, no_grad_vars=[1]), TYPE, "a list of"),
    ask("grad only", lambda: paddle.grad(loss(X), X, only_inputs=False), VALUE, "use backward()"),
    *flags("grad retain", lambda v: paddle.grad(loss(X), X, retain_graph=v)),
    *flags("grad create", lambda v: paddle.grad(loss(X), X, create_graph=v)),
    *flags("grad only", lambda v: paddle.grad(loss(X), X, only_inputs=v)),
    *flags("grad unused", lambda v: paddle.grad(loss(X), X, allow_unused=v)),
    # what belongs to a tensor
    *every("grad =", lambda v: setattr(X, "grad", [] if v is None else v), TYPE, "use to_tensor"),
    ask("grad = shape", lambda: setattr(X, "grad", ONES3), VALUE, "must have the shape of the"),
    ask("grad = dtype", lambda: setattr(X, "grad", plain().astype("float64")), TYPE, "use grad.as"),
    ask("set_value shape", lambda: leaf().set_value(np.ones(3)), VALUE, "has shape .2., the value"),
    ask("set_value assert", lambda: leaf().set_value(np.ones(3)), ASSERT, "has shape .2., the val"),
    ask("set_value None", lambda: leaf().set_value(None), TYPE, "set_value"),
    ask("set_value complex", lambda: leaf().set_value(np.ones(2) * 1j), TYPE, "use value.astype"),
    *flags("stop_gradient", lambda v: setattr(leaf(), "stop_gradient", v)),
    *flags("requires_grad", lambda v: setattr(leaf(), "requires_grad", v)),
    *flags("requires_grad_", lambda v: leaf().requires_grad_(v)),
    *flags("clear_gradient", lambda v: leaf().clear_gradient(v)),
    ask("integers", lambda: paddle.ones([2], "int64").requires_grad_(), TYPE, "dtype='float32'"),
    ask("in place", lambda: leaf().add_(ONES3[:2]), RUN, "write it under paddle.no_grad()"),
    # hooks
    *every("hook", lambda v: leaf().register_hook(v), TYPE, "must be a function"),
    *every(
        "post", lambda v: leaf().register_post_accumulate_grad_hook(v), TYPE, "must be a function"
    ),
    ask("hook stopped", lambda: plain().register_hook(print), RUN, "set stop_gradient=False befo"),
    ask(
        "post of a result",
        lambda: double(X).register_post_accumulate_grad_hook(print),
        RUN,
        "only leaves accumulate; use register_hook",
    ),
    *(
        ask(f"hook returns {type(v).__name__}", lambda v=v: hooked(v), TYPE, "or None to keep")
        for v in (1, 1.5, "x", [1], np.ones(2), object())
    ),
    ask("hook shape", lambda: hooked(ONES3), VALUE, "a hook keeps the shape"),
    ask("hook dtype", lambda: hooked(plain().astype("float64")), TYPE, r"return grad\.astype"),
    # modes
    *every(
        "inference_mode", lambda v: paddle.inference_mode(v), TYPE, "takes True or False, or decor"
    ),
    *(
        ask(f"{m.__name__}()(1)", lambda m=m: m()(1), TYPE, "above a function or method")
        for m in (paddle.no_grad, paddle.enable_grad, paddle.inference_mode)
    ),
    ask("no_grad class", lambda: paddle.no_grad()(A.PyLayer), TYPE, "a function or method"),
    *flags("set_grad_enabled", paddle.set_grad_enabled, (1, None, "x", waits, np.ones(2))),
    *(
        ask(f"leave {m.__name__}", lambda m=m: left(m()), ModeError, r"write `with \w+")
        for m in MANAGERS
    ),
    # layers
    ask("layer made", lambda: layer()(leaf()), TYPE, r"call Layer\.apply\("),
    ask("layer empty", lambda: type("L", (A.PyLayer,), {}).apply(X), NotImplementedError, "@stati"),
    *(
        ask(f"forward {type(v).__name__}", lambda v=v: through(layer(lambda c, x: v)), VALUE, "Te")
        for v in (None, 1, "x", [], np.ones(2))
    ),
    *(
        ask(
            f"backward of a layer {type(v).__name__}",
            lambda v=v: through(layer(backward=lambda c, g: v)),
            (TYPE, VALUE),
            "return a Tensor|Tensor or None|gradient",
        )
        for v in (1, "x", np.ones(2), object(), (X, X), (), ONES3)
    ),
    ask("materialize", lambda: context(lambda c, x: c.set_materialize_grads(1)), VALUE, "True or"),
    ask("mark", lambda: context(lambda c, x: c.mark_non_differentiable(1)), TYPE, "outputs of for"),
    ask("saved late", lambda: kept_context().saved_tensor(), VALUE, "the context that backward g"),
    ask("attribute", lambda: A.PyLayerContext().nope, AttributeError, "set it in forward"),
    ask("once", lambda: A.once_differentiable(1), TYPE, "decorates the backward of a PyLayer"),
    # operations
    ask("defop name", lambda: A.defop(1, double), TYPE, r"defop\('cube', kernel\)"),
    ask("defop built-in", lambda: A.defop("exp", double), TYPE, "'my_exp'"),
    ask("defop identifier", lambda: A.defop("a b", double), TYPE, "Python identifier"),
    ask("defop kernel", lambda: A.defop("my_op", 1), TYPE, "the kernel must be a function"),
    *(
        ask(f"defop {o}", lambda o=o: op(**{o: [1]}), TYPE, f"{o} must be a str of names, as {o}=")
        for o in ("inputs", "outputs", "nondiff_outputs", "untyped")
    ),
    *(
        ask(f"defop infer {v!r}", lambda v=v: op(infer=v), TYPE, "'same', 'broadcast', a function")
        for v in (1, "x", [], ())
    ),
    *(
        ask(f"defop dtypes {v!r}", lambda v=v: op(dtypes=v), TYPE, "'common', 'floating' or 'any'")
        for v in (None, 1, "x", [])
    ),
    ask("defop arity", lambda: op(inputs="x y"), TYPE, "name as many"),
    ask("vjp of nothing", lambda: op(rule=None).vjp(q=lambda xp, g: g), TYPE, "q"),
    ask("vjp kind", lambda: op(rule=1), TYPE, "x"),
    ask("vjp reads", lambda: op(rule=lambda xp, g, zz: g), TYPE, "zz"),
    ask("no rule", lambda: op(rule=None)(leaf()).sum().backward(), RUN, r"my_op\.vjp\(x="),
    ask("operand", lambda: op()([1.0]), TYPE, "use paddle.to_tensor"),
    ask("operands", lambda: op()(), TYPE, "missing 1 required positional argument: 'x'"),
    ask("kernel result", lambda: op(lambda x: None)(leaf()), TYPE, "and returns ndarrays"),
    ask("kernel shape", lambda: op(lambda x: np.ones(3))(leaf()), VALUE, "correct the one that is"),
    ask(
        "rule shape",
        lambda: op(rule=lambda xp, g: np.ones(3))(leaf()).sum().backward(),
        (TYPE, VALUE, RUN),
        "my_op",
    ),
    # memory
    *every("pack", lambda v: A.saved_tensors_hooks(v, double), TYPE, "pack_hook must be a functi"),
    *every("unpack", lambda v: A.saved_tensors_hooks(double, v), TYPE, "unpack_hook must be a fu"),
    *(
        ask(f"unpacked {type(v).__name__}", lambda v=v: unpacked(v), (TYPE, VALUE), "unpack")
        for v in (None, 1, "x", np.ones(2), ONES3)
    ),
    ask("disk", lambda: A.save_on_disk("/nowhere").__enter__(), NotADirectoryError, "create it"),
    *every("recompute", lambda v: A.recompute(v, X), TYPE, "takes a function first, got"),
    *flags("recompute", lambda v: A.recompute(double, X, preserve_rng_state=v)),
    ask(
        "determinism",
        lambda: A.recompute(double, X, determinism_check=np.ones(2)),
        VALUE,
        "'default' or 'none'",
    ),
    *(
        ask(f"segments {v!r}", lambda v=v: A.recompute_sequential(v, [double], X), k, h)
        for v, k, h in (
            ("x", TYPE, "as {'segments': 2}"),
            (1.5, TYPE, "as {'segments': 2}"),
            (0, VALUE, "an int of 1 or more"),
            ({"segment": 2}, VALUE, "segments and preserve_rng_state"),
        )
    ),
    *every("sequence", lambda v: A.recompute_sequential(1, v, X), TYPE, "a list of functions, got"),
    ask("no sequence", lambda: A.recompute_sequential(1, [], X), VALUE, "give one at least"),
    *every("saved_report", A.saved_report, TYPE, "give it the loss"),
    ask("saved_report []", lambda: A.saved_report([]), VALUE, "give it the loss"),
    # functions and their derivatives
    *(
        case
        for f in (A.jvp, A.vjp, A.hvp)
        for case in (
            *every(f.__name__, lambda v, f=f: f(v, X), TYPE, "must be a function of tensors"),
            *every(f"{f.__name__} xs", lambda v, f=f: f(loss, v), TYPE, "use to_tensor"),
            ask(f"{f.__name__} []", lambda f=f: f(loss, []), VALUE, "give one Tensor at least"),
            ask(f"{f.__name__} v", lambda f=f: f(loss, X, [ONES3, ONES3]), VALUE, "v"),
            ask(f"{f.__name__} of 1", lambda f=f: f(lambda x: 1, X), TYPE, "must return a Tensor"),
            ask(f"{f.__name__} int", lambda f=f: f(loss, X.astype("int32")), TYPE, "x.astype"),
            *flags(f"{f.__name__} create", lambda v, f=f: f(loss, X, create_graph=v)),
        )
    ),
    *(
        case
        for f in (A.jacobian, A.hessian)
        for case in (
            *every(f.__name__, lambda v, f=f: f(v, X), TYPE, "must be a Tensor, got"),
            *every(f"{f.__name__} xs", lambda v, f=f: f(loss, v), TYPE, "use to_tensor"),
            ask(f"{f.__name__} []", lambda f=f: f(loss, []), VALUE, "give one Tensor at least"),
            ask(f"{f.__name__} xs []", lambda f=f: f(loss(X), []), VALUE, "give one Tensor at"),
            *(
                ask(
                    f"{f.__name__} batch_axis {v!r}",
                    lambda v=v, f=f: f(loss, X, batch_axis=v),
                    VALUE,
                    "batch_axis must be None or 0",
                )
                for v in (1, "x", True, np.ones(2))
            ),
            *flags(f"{f.__name__} create", lambda v, f=f: f(loss, X, create_graph=v)),
            ask(f"{f.__name__} row", lambda f=f: f(loss, X)[5], IndexError, "out of range"),
        )
    ),
    ask("jacobian []", lambda: A.jacobian([], X), VALUE, "give one Tensor at least"),
    ask("jacobian mode", lambda: A.jacobian(loss, X, mode=np.ones(2)), VALUE, "'forward' or"),
    ask("hessian of several", lambda: A.hessian(double, X)[:], VALUE, "one element"),
    ask("value_and_grad", lambda: A.value_and_grad(1), TYPE, "must be a function of tensors"),
    ask("argnums", lambda: A.value_and_grad(loss, argnums="x"), VALUE, "an int or a sequence of"),
    ask("argnums far", lambda: A.value_and_grad(loss, argnums=3)(X), (VALUE, TYPE), "argnums"),
    ask("has_aux", lambda: A.value_and_grad(loss, has_aux=True)(X), (VALUE, TYPE), "must return a"),
    ask("value_and_grad of two", lambda: A.value_and_grad(double)(X), VALUE, "one element"),
    *flags("has_aux", lambda v: A.value_and_grad(loss, has_aux=v)),
    # looking
    *every("explain", paddle.explain, (TYPE, VALUE), "give it the tensor|which has none"),
    *every("explain loss", lambda v: paddle.explain(X, 1 if v is None else v), TYPE, "explain"),
    *every("graph", paddle.graph, TYPE, "graph"),
    ask("graph suffix", lambda: paddle.graph(Y).save("x.png"), VALUE, "use .dot, .svg or .html"),
    ask(
        "graph directory",
        lambda: paddle.graph(Y).save("/nowhere/x.dot"),
        FileNotFoundError,
        "'/nowhere/x.dot': there is no directory '/nowhere'",
    ),
    ask("precision", lambda: paddle.set_printoptions(precision="x"), TYPE, "precision=8"),
    ask("precision -1", lambda: paddle.set_printoptions(precision=-1), VALUE, "precision=8"),
    ask("sci_mode", lambda: paddle.set_printoptions(sci_mode=1), TYPE, "sci_mode=True or False"),
    # checks
    *(
        case
        for f in (testing.gradcheck, testing.gradgradcheck)
        for case in (
            *every(f.__name__, lambda v, f=f: f(v, wide()), TYPE, "must be a function of tensors"),
            ask(f"{f.__name__} stopped", lambda f=f: f(loss, plain()), VALUE, "stop_gradient"),
            *(
                ask(
                    f"{f.__name__} {option} {v!r}",
                    lambda v=v, o=option, f=f: f(loss, wide(), **{o: v}),
                    VALUE,
                    f"{option} must be a number",
                )
                for option in ("eps", "atol", "rtol")
                for v in (-1.0, "x", [1.0], np.ones(2), True)
            ),
        )
    ),
    ask("check_op", lambda: testing.check_op(1, X), TYPE, "an operation's name, an OpDef or"),
    ask("check_op name", lambda: testing.check_op("nope", X), VALUE, "and not by name"),
    ask("check_op count", lambda: testing.check_op("exp"), VALUE, "its operands are x; got 0"),
    ask("check_op counts", lambda: testing.check_op("exp", X, X), VALUE, "got 2"),
    ask("check_op nothing", lambda: testing.check_op(double), VALUE, r"check_op\(f, x, y\)"),
    ask("check_op operand", lambda: testing.check_op("exp", "x"), TYPE, "use real numbers"),
    # memory in common, files
    *every("to_dlpack", paddle.utils.dlpack.to_dlpack, TYPE, "use to_tensor"),
    ask("to_dlpack leaf", lambda: paddle.utils.dlpack.to_dlpack(X), BufferError, r"x\.detach\(\)"),
    ask("from_dlpack", lambda: paddle.from_dlpack([1.0]), TYPE, "use paddle.to_tensor"),
    *flags("from_dlpack", lambda v: paddle.from_dlpack(np.ones(2), copy=v)),
    ask("pickle", lambda: pickle.dumps(double(X)), VALUE, r"use x\.detach\(\)"),
    ask("deepcopy", lambda: copy.deepcopy(double(X)), VALUE, r"use x\.detach\(\)"),
    ask("pickle program", lambda: pickle.dumps(paddle.static.Program()), VALUE, "program.clone()"),
]


@over(("call", "kinds", "hint"), CALLS, by=before(" "))
def test_what_to_type_instead_is_said(call, kinds, hint):
    with pytest.raises(kinds, match=hint) as caught:
        call()
    assert not isinstance(caught.value, KeyError | RecursionError)
    assert paddle.is_grad_enabled()
    assert loss(leaf()).grad_fn is not None


# --- programs


STATIC = {
    "backward": (lambda v: A.backward(v), "disable_static"),
    "grad": (lambda v: paddle.grad(v, v), "disable_static"),
    "hvp": (lambda v: A.hvp(loss, v), "disable_static"),
    "value_and_grad": (lambda v: A.value_and_grad(loss)(v), "disable_static"),
    "recompute": (lambda v: A.recompute(double, v), "disable_static"),
    "gradcheck": (lambda v: testing.gradcheck(loss, v), "disable_static"),
    "gradgradcheck": (lambda v: testing.gradgradcheck(loss, v), "disable_static"),
    "check_op": (lambda v: testing.check_op("exp", v), "disable_static"),
    "layer": (lambda v: layer().apply(v), r"paddle\.autograd\.defop"),
    "numpy": (lambda v: v.numpy(), "fetch_list"),
    ".backward()": (lambda v: v.backward(), r"append_backward\(loss\)"),
    ".grad": (lambda v: v.grad, "append_backward"),
    ".retain_grads": (lambda v: v.retain_grads(), "append_backward"),
    ".grad_fn": (lambda v: v.grad_fn, r"paddle\.graph\(loss\)"),
    ".is_leaf": (lambda v: v.is_leaf, "static.data"),
}


@pytest.mark.parametrize("name", STATIC)
def test_a_variable_where_a_tensor_belongs(name):
    call, hint = STATIC[name]
    paddle.enable_static()
    try:
        with paddle.static.program_guard(paddle.static.Program()):
            v = paddle.static.data("v", [2])
            with pytest.raises(ModeError, match=hint):
                call(v)
    finally:
        paddle.disable_static()


@pytest.mark.parametrize("name", STATIC)
def test_a_variable_in_eager_mode(name):
    call, _ = STATIC[name]
    with paddle.static.program_guard(paddle.static.Program()):
        v = paddle.static.data("v", [2])
    if name == "recompute":  # operations go by their operands, so it is applied as it is
        assert isinstance(call(v), paddle.static.Variable)
        return
    with pytest.raises((ModeError, TypeError), match=r"[Vv]ariable"):
        call(v)


def test_inside_a_program_guard_the_hint_is_to_leave_it():
    y = loss(leaf())
    guard = paddle.static.program_guard(paddle.static.Program())
    with guard, pytest.raises(ModeError, match="a program_guard is open: call it outside the b"):
        A.backward(y)
    A.backward(y)


def test_a_variable_has_none_of_a_tensors_own_attributes():
    with paddle.static.program_guard(paddle.static.Program()):
        v = paddle.static.data("v", [2])
    assert not hasattr(v, "grad")
    assert not hasattr(v, "nonsense")
    assert issubclass(EagerOnlyError, AttributeError)


def test_modules_list_what_they_offer():
    assert {"errors", "testing", "incubate", "distributed", "to_tensor"} <= set(dir(paddle))
    assert {"PyLayer", "hvp", "defop", "jacobian", "no_grad"} <= set(dir(A))
    for space in (paddle, A, testing, paddle.nn.functional, paddle.static, paddle.linalg):
        shown = [n for n in dir(space) if n != "__version__"]
        assert sorted(shown) == sorted(space.__all__)
        assert all(hasattr(space, n) for n in shown)


def test_requires_grad_is_the_opposite_of_stop_gradient():
    x = plain()
    assert not x.requires_grad
    assert x.requires_grad_() is x
    assert x.requires_grad
    assert not x.stop_gradient
    x.requires_grad = False
    assert x.stop_gradient
