"""Arrays of tensors, in programs and eagerly; loops and branches written as blocks."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

import autograd_engine as paddle
from autograd_engine import static
from autograd_engine.errors import BuildError, DTypeError, ExecutionError, ModeError, ShapeError
from autograd_engine.program.mode import guarded
from autograd_engine.testing.modes import same_bits

nn = static.nn
While, Switch = nn.control_flow.While, nn.control_flow.Switch
create_array, array_write = paddle.tensor.create_array, paddle.tensor.array_write
array_read, array_length = paddle.tensor.array_read, paddle.tensor.array_length
tensor_array_to_tensor = paddle.tensor.tensor_array_to_tensor


@pytest.fixture(autouse=True)
def programs() -> Iterator[Any]:
    main, startup = static.Program(), static.Program()
    with static.program_guard(main, startup), static.scope_guard(static.Scope()):
        yield main, startup


def data(name: str, *shape: int | None) -> Any:
    x = static.data(name, list(shape), "float64")
    x.stop_gradient = False
    return x


def number(k: int) -> Any:
    return paddle.full([1], k, "int64")


def eagerly(function: Callable[..., Any], *arrays: Any) -> Any:
    with guarded.replaced(False):
        return function(*(paddle.to_tensor(a, "float64", stop_gradient=False) for a in arrays))


def times(n: int, body: Callable[[Any], Any]) -> Any:
    """Run `body`, which is given the number of the iteration, as the block of a loop."""
    i, count = number(0), number(n)
    more = i < count
    with While(more).block():
        body(i)
        paddle.increment(i)
        paddle.assign(i < count, output=more)
    return i


def run(fetches: Any, feed: Any, backend: str = "numpy", program: Any = None) -> list[Any]:
    executor = static.Executor(backend=backend)
    executor.run(static.default_startup_program())
    found: list[Any] = executor.run(program or static.default_main_program(), feed, fetches)
    return found


A = np.random.default_rng(3).normal(size=(2, 3))


def mixed(x: Any, w: Any, loop: Callable[[int, Callable[[Any], Any]], Any], place: Any) -> Any:
    """Elements from before a loop and in it, read in another; some are read twice, some never."""
    array = create_array("float64", [x * w, paddle.sin(x)])

    def grow(i: Any) -> None:
        two = array_read(array, i) * w + array_read(array, i + 1)
        array_write(paddle.tanh(two), i + 2, array)

    loop(3, grow)
    array_write(array_read(array, place(1)) * array_read(array, place(4)), place(1), array)
    out = create_array("float64")

    def gather(i: Any) -> None:
        array_write(array_read(array, i + 1) * array_read(array, i), i, out)

    loop(3, gather)
    stacked, _ = tensor_array_to_tensor(out, axis=0, use_stack=True)
    joined, sizes = tensor_array_to_tensor(array, axis=0)
    return paddle.sum(stacked * stacked) + paddle.sum(paddle.sin(joined)), sizes, array


@pytest.mark.parametrize("backend", ["numpy", "native"])
def test_three_orders_are_those_of_lists(backend: str, programs: Any) -> None:
    x, w = data("x", 3), data("w", 3)
    found, sizes, array = mixed(x, w, times, number)
    fetches = [found]
    for _ in range(3):
        gx, gw = static.gradients(found, [x, w])
        fetches += [gx, gw]
        found = paddle.sum(gx * gw) + paddle.sum(gx * gx)
    feed = {"x": A[0], "w": A[1]}
    got = run([*fetches, sizes, array, array_length(array)], feed, backend)
    assert got.pop().tolist() == [5]
    assert [len(e) for e in got.pop()] == got.pop().tolist() == [3] * 5

    def on_lists(x: Any, w: Any) -> list[Any]:
        def loop(n: int, body: Any) -> None:
            for k in range(n):
                body(paddle.to_tensor([k]))

        found, _, _ = mixed(x, w, loop, lambda k: paddle.to_tensor([k]))
        values = [found]
        for _ in range(3):
            gx, gw = paddle.grad(found, [x, w], create_graph=True)
            values += [gx, gw]
            found = paddle.sum(gx * gw) + paddle.sum(gx * gx)
        return [v.numpy() for v in values]

    for k, (value, expected) in enumerate(zip(got, eagerly(on_lists, *A), strict=True)):
        if k < 3:
            same_bits(value, expected)
        np.testing.assert_allclose(value, expected, rtol=1e-10, err_msg=f"fetch {k}")
    text = static.Program.parse_from_string(programs[0].to_string())
    for program in (text, programs[0].clone()):
        again = run([f.name for f in fetches], feed, program=program)
        for value, other in zip(got, again, strict=True):
            same_bits(other, value)
    with guarded.replaced(False):
        tensors = programs[0].run_eagerly(feed, [f.name for f in fetches[:3]])
    for value, f in zip(got, fetches[:3], strict=False):
        same_bits(tensors[f.name].numpy(), value)


def drawn(seed: int, x: Any, w: Any, place: Callable[[int], Any]) -> Any:
    """A loop that reads what it has written, and writes to two arrays, of operations drawn."""
    program = not isinstance(x, paddle.Tensor)
    kinds = np.random.default_rng(seed).integers(5, size=5)
    array, out = create_array("float64", [x * w]), create_array("float64")
    s, count = paddle.assign(paddle.sin(x)), int(kinds[4]) % 3 + 1
    s.stop_gradient = False

    def step(i: Any, s: Any) -> Any:
        old = array_read(array, i)
        new = [
            lambda: old * w + s,
            lambda: paddle.tanh(old) * x,
            lambda: old + s * s * 0.1,
            lambda: paddle.sum(old) * w,
            lambda: paddle.concat([old[1:], s[:1]]),
        ][kinds[0]]()
        array_write(new, i + 1, array)
        array_write(new * s, i if kinds[1] % 2 else i * 0, out)
        return [new * 0.5 + s, s * w, paddle.sin(new), s + array_read(out, i * 0), old][kinds[2]]

    if program:
        times(count, lambda i: paddle.assign(step(i, s), output=s))
    else:
        for k in range(count):
            s = step(place(k), s)
    if kinds[3] % 2:
        array_write(array_read(array, place(1)) * s, place(0), array)
    joined, _ = tensor_array_to_tensor(array, axis=0)
    stacked, _ = tensor_array_to_tensor(out, axis=int(kinds[3]) % 2, use_stack=True)
    return paddle.sum(joined * joined) + paddle.sum(stacked**3.0) + paddle.sum(s)


def one_number(k: int) -> Any:
    return paddle.to_tensor([k])


def test_random_programs_agree_with_lists_and_differences() -> None:
    wrong = []
    feed = {"x": A[0], "w": A[1]}
    for seed in range(10):
        main = static.Program()
        with static.program_guard(main):
            x, w = data("x", 3), data("w", 3)
            target = drawn(seed, x, w, number)
            gx, gw = static.gradients(target, [x, w])
            second = static.gradients(paddle.sum(gx * gw) + paddle.sum(gw), [x, w])
        executor = static.Executor()
        got = executor.run(main, feed, [target, gx, gw, *second])

        def on_lists(x: Any, w: Any, seed: int = seed) -> list[Any]:
            target = drawn(seed, x, w, one_number)
            gx, gw = paddle.grad(target, [x, w], create_graph=True)
            second = paddle.grad(paddle.sum(gx * gw) + paddle.sum(gw), [x, w])
            return [v.numpy() for v in (target, gx, gw, *second)]

        for value, wanted in zip(got, eagerly(on_lists, *A), strict=True):
            if not np.allclose(value, wanted, rtol=1e-9):
                wrong.append((seed, value, wanted))
        step = 1e-6 * np.eye(3)
        for k in range(3):
            ends = [
                executor.run(main, {"x": A[0] + h * step[k], "w": A[1]}, [target])[0]
                for h in (1, -1)
            ]
            if not np.isclose((ends[0] - ends[1]) / 2e-6, got[1][k], rtol=1e-4, atol=1e-6):
                wrong.append((seed, "difference", k))
    assert not wrong


def branched(x: Any, w: Any, value: Any) -> Any:
    """The last of one or two elements, as `value` is negative or positive."""
    array = create_array("float64", [x * value])
    nn.cond(value > 0.0, lambda: array_write(w * x, number(1), array), lambda: array)
    return paddle.sum(array_read(array, array_length(array) - 1) ** 2.0)


def test_tangents_are_what_gradients_say() -> None:
    """Forward mode of two orders, through loops and branches, beside reverse mode; native too."""
    forward, wrong = paddle.incubate.autograd.forward_grad, []
    direction = np.random.default_rng(8).normal(size=3)
    feed = {"x": A[0], "w": A[1], "d": direction}
    for seed in (0, 1, 6):
        main = static.Program()
        with static.program_guard(main):
            x, w, d = data("x", 3), data("w", 3), static.data("d", [3], "float64")
            target = drawn(seed, x, w, number)
            target = target + branched(x, w, target)
            tangent = forward(target, [x, w], [d, None])
            (g,) = static.gradients(target, [x])
            (of_tangent,) = static.gradients(tangent, [x])
            second, of_gradient = forward(tangent, x, d), forward(g, [x, w], [d, None])
        fetches = [tangent, g, of_tangent, second, of_gradient]
        for program in (main, static.Program.parse_from_string(main.to_string())):
            for backend in ("numpy", "native"):
                executor = static.Executor(backend=backend)
                got = executor.run(program, feed, [v.name for v in fetches])
                pairs = (got[0], got[1] @ direction), (got[2], got[4]), (got[3], got[4] @ direction)
                if not all(np.allclose(a, b, rtol=1e-9) for a, b in pairs):
                    wrong.append((seed, backend, pairs))
    assert not wrong


def test_a_loop_of_functions_carries_and_captures_arrays() -> None:
    x = data("x", None)
    outer = create_array("float64")

    def body(i: Any, s: Any, array: Any) -> list[Any]:
        array_write(s, i, outer)
        return [i + 1, s * x, array_write(s + x, i, array)]

    start = [paddle.zeros([1], "int64"), x * 1.0, create_array("float64")]
    _, s, array = nn.while_loop(lambda i, *_: i < 3, body, start)
    joined, sizes = tensor_array_to_tensor(array, axis=0)
    stacked, _ = tensor_array_to_tensor(outer, axis=0, use_stack=True)
    (g,) = static.gradients([paddle.sum(joined), paddle.sum(stacked), paddle.sum(s)], x)
    for n in (2, 3):
        a = A[0][:n]
        found = run([joined, stacked, g, sizes], {"x": a})
        np.testing.assert_allclose(found[0], np.concatenate([a + a, a**2 + a, a**3 + a]))
        np.testing.assert_allclose(found[1], [a, a**2, a**3])
        np.testing.assert_allclose(found[2], 5.0 + 4 * a + 6 * a**2 + 4 * a**3)
        assert found[3].tolist() == [n] * 3


def test_branches_write_and_return_arrays() -> None:
    x = data("x", 2)
    array = create_array("float64", [x])
    positive = paddle.sum(x) > 0.0

    def doubled() -> Any:
        array_write(x * 2.0, number(1), array)
        return create_array("float64", [x * x])

    made = nn.cond(positive, doubled, lambda: create_array("float64", [x, x]))
    last = array_read(array, array_length(array) - 1)
    first = array_read(made, number(0))
    (g,) = static.gradients(paddle.sum(last * first), x)
    fetches = [array_length(array), array_length(made), last, first, g]
    a = np.array([1.0, 3.0])
    for feed, expected in ((a, [2, 1, 2 * a, a * a, 6 * a * a]), (-a, [1, 2, -a, -a, -2 * a])):
        for value, wanted in zip(run(fetches, {"x": feed}), expected, strict=True):
            np.testing.assert_allclose(value, np.atleast_1d(wanted))


def test_elements_of_several_sizes() -> None:
    x = data("x", 2)
    array = array_write(x, number(0))
    array_write(paddle.concat([x, x * x]), number(2), array)
    early = array_length(array)
    array_write(x[:1], number(1), array)
    joined, sizes = tensor_array_to_tensor(array, axis=-1)
    (g,) = static.gradients(paddle.sum(joined * joined), x)
    found = run([joined, sizes, g, early], {"x": np.array([2.0, 3.0])})
    assert found[0].tolist() == [2, 3, 2, 2, 3, 4, 9]
    assert found[1].tolist() == [2, 1, 4]
    assert found[2].tolist() == [4 + 4 + 4 + 32, 6 + 6 + 108]
    assert found[3].tolist() == [3]


def test_gradients_of_an_array_with_a_gap_run_eagerly(programs: Any) -> None:
    x = data("x", 2)
    array = array_write(x * x, number(2))
    array_write(paddle.sin(x), number(0), array)
    y = array_read(array, number(0)) * array_read(array, number(2)) * array_read(array, number(2))
    (g,) = static.gradients(paddle.sum(y), x)
    feed = {"x": np.array([2.0, 3.0])}
    with guarded.replaced(False):
        found = programs[0].run_eagerly(feed, [g.name])
    same_bits(found[g.name].numpy(), run([g], feed)[0])


def test_eager_arrays_are_lists() -> None:
    def on_lists(x: Any, y: Any) -> None:
        one = paddle.to_tensor([1])
        array = create_array("float64", [x])
        assert isinstance(array, list)
        assert array_write(y, one, array) is array
        assert array_read(array, one) is y
        assert array_length(array).tolist() == [2]
        joined, sizes = tensor_array_to_tensor(array, axis=0)
        stacked, along = tensor_array_to_tensor(array, axis=1, use_stack=True)
        (g,) = paddle.grad(paddle.sum(joined * joined), x)
        same_bits(g.numpy(), 2 * A[0])
        assert sizes.tolist() == [3, 3]
        assert along.tolist() == [1, 1]
        assert stacked.shape == [3, 2]
        for index, error in ((2, IndexError), (-1, IndexError)):
            with pytest.raises(error, match=str(index)):
                array_read(array, paddle.to_tensor([index]))
        with pytest.raises(IndexError, match="i is 3, and the array has 2 elements"):
            array_write(x, paddle.to_tensor([3]), array)
        with pytest.raises(TypeError, match="float32, and the array is one of float64"):
            array_write(x.astype("float32"), one, array)
        with pytest.raises(TypeError, match="array must be a list"):
            array_length(x)
        with pytest.raises(ValueError, match="the array is empty"):
            tensor_array_to_tensor(create_array("float32"))
        assert paddle.tensor.create_tensor("float32", name="t").shape == [0]

    eagerly(on_lists, *A)


def test_what_is_refused_leaves_nothing(programs: Any) -> None:
    x, i = data("x", 3), number(0)
    array, empty = create_array("float64", [x]), create_array("float32")
    other = static.Program()
    with static.program_guard(other):
        foreign = create_array("float64")
    text = repr(programs[0])
    refused: list[tuple[Callable[[], Any], type[Exception], str]] = [
        (
            lambda: array_write(i, i, array),
            DTypeError,
            r"is int64, and the array is one of float64",
        ),
        (lambda: array_write(x, x, array), DTypeError, "i must be an integer, it is float64"),
        (lambda: array_write(x, paddle.full([2], 0, "int64"), array), ShapeError, "one element"),
        (lambda: array_write(paddle.sum(x), i, array), ShapeError, "have 1 axes, and x has"),
        (lambda: array_read(empty, i), BuildError, "nothing was written to .* before"),
        (lambda: tensor_array_to_tensor(empty), BuildError, "nothing was written to"),
        (lambda: tensor_array_to_tensor(array, axis=1), ValueError, "axis must be from -1 to 0"),
        (lambda: array_read(x, i), TypeError, "what create_array returned in this program"),
        (lambda: array_write(x, i, foreign), BuildError, "another program"),
        (lambda: paddle.tanh(array), TypeError, "an array of tensors: take one with .*array_read"),
        (lambda: create_array("float64", [x, 1.0]), TypeError, r"initialized_list\[1\]"),
        (lambda: create_array("float64", [x, i]), DTypeError, r"is int64"),
        (lambda: While(x), DTypeError, "While: cond must be a bool"),
        (lambda: While(True), ModeError, "must be a Variable of a program, got bool"),  # type: ignore[arg-type]
        (lambda: Switch().default().__enter__(), BuildError, "inside of the with block"),
    ]
    wrong = []
    for call, error, hint in refused:
        before = repr(programs[0])
        try:
            with pytest.raises(error, match=hint):
                call()
        except BaseException as failure:
            wrong.append((hint, failure))
        if repr(programs[0]) != before and "full" not in repr(programs[0])[len(before) - 400 :]:
            wrong.append((hint, "left something"))
    assert not wrong
    assert repr(programs[0]).startswith(text[:40])


def test_reading_what_is_not_there_names_the_line() -> None:
    x = data("x", 3)
    array = array_write(x, number(2))
    for k, hint in ((3, "i is 3, and the array has 3 elements"), (1, "nothing was written to pl")):
        out = array_read(array, number(k))
        with pytest.raises(ExecutionError, match=hint) as caught:
            run([out], {"x": A[0]})
        assert "out = array_read(array, number(k))" in str(caught.value)


class TestBlocks:
    def test_a_loop_has_the_bits_of_functions(self) -> None:
        x, w = data("x", 3), data("w", 3)

        def step(v: Any) -> Any:
            return paddle.tanh(v * w) + x

        s = paddle.assign(x * w)
        times(4, lambda _: paddle.assign(step(s), output=s))
        _, v = nn.while_loop(
            lambda i, _: i < 4, lambda i, v: [i + 1, step(v)], [paddle.zeros([], "int64"), x * w]
        )
        fetches = [s, v]
        for y in (s, v):
            target = paddle.sum(y * y)
            for _ in range(2):
                grads = static.gradients(target, [x, w])
                fetches += grads
                target = paddle.sum(grads[0] * grads[1])
        found = run(fetches, {"x": A[0], "w": A[1]})
        same_bits(found[0], found[1])
        for one, other in zip(found[2:6], found[6:], strict=True):
            same_bits(one, other)

    def test_loops_in_loops_and_branches(self) -> None:
        x = data("x", 3)
        total = paddle.zeros([3], "float64")
        total.stop_gradient = False

        def inner(i: Any) -> None:
            with Switch() as switch:
                with switch.case(i < 1):
                    paddle.assign(total + x, output=total)
                with switch.case(i < 2):
                    times(2, lambda j: paddle.assign(total * x, output=total))
                with switch.default():
                    paddle.assign(total - 1.0, output=total)

        times(4, inner)
        (g,) = static.gradients(paddle.sum(total), x)
        a = A[0]
        found, got = run([total, g], {"x": a})
        np.testing.assert_allclose(found, a**3 - 2.0)
        np.testing.assert_allclose(got, 3 * a**2)

    def test_a_block_that_fails_leaves_nothing(self, programs: Any) -> None:
        """It can be written again."""
        x, i = data("x", 3), number(0)
        total, more, array = paddle.zeros([3], "float64"), i < 3, create_array("float64")
        text, version = repr(programs[0]), total.version
        loop, switch = While(more), Switch()

        def fail() -> None:
            paddle.assign(total + x, output=total)
            array_write(x, i, array)
            raise ZeroDivisionError

        def in_a_loop(body: Callable[[], Any]) -> None:
            with loop.block():
                body()

        def in_a_case(body: Callable[[], Any]) -> None:
            with switch, switch.case(more):
                body()

        def by_default() -> None:
            with switch, switch.default():
                pass

        with pytest.raises(ZeroDivisionError):
            in_a_loop(fail)
        with pytest.raises(BuildError, match="does not write the condition"):
            in_a_loop(lambda: paddle.increment(i))
        with pytest.raises(ZeroDivisionError):
            in_a_case(fail)
        with pytest.raises(BuildError, match="there is no case before it"):
            by_default()
        assert (repr(programs[0]), total.version, array.shape) == (text, version, [])
        with loop.block():
            made = total + x
            paddle.assign(made, output=total)
            paddle.increment(i)
            paddle.assign(i < 3, output=more)
        with pytest.raises(BuildError, match="block of this loop is finished"):
            in_a_loop(lambda: None)
        with pytest.raises(BuildError, match="known inside its branch or loop only"):
            paddle.sum(made)
        np.testing.assert_allclose(run([total], {"x": A[0]})[0], 3 * A[0])

    def test_elements_of_another_size_are_refused_in_a_loop(self) -> None:
        x = data("x", 3)
        array = create_array("float64", [x])
        with pytest.raises(BuildError, match="inside a loop all of them must have one shape"):
            times(2, lambda i: array_write(paddle.concat([array_read(array, i), x]), i + 1, array))


def test_create_tensor_takes_the_shape_of_what_is_assigned() -> None:
    x = data("x", 3)
    made = paddle.tensor.create_tensor("float64", name="made")
    paddle.assign(x * 2.0, output=made)
    assert (made.name, made.shape) == ("made", [3])
    (g,) = static.gradients(paddle.sum(made * made), x)
    np.testing.assert_allclose(run([g], {"x": A[0]})[0], 8 * A[0])


def test_who_writes_first_what_is_declared_says_what_it_is() -> None:
    """What `create_tensor` and `create_var` make is declared in the same way."""
    block = static.default_main_program().current_block()
    x = data("x", 3)
    kept = paddle.tensor.create_tensor("float64", name="kept", persistable=True)
    declared = block.create_var("declared", shape=[2], dtype="float64")
    for made in (kept, declared):
        assert made.declared
        paddle.assign(x * 2.0, output=made)
        assert (made.shape, made.declared) == ([3], False)
        with pytest.raises(ShapeError, match="cannot take"):
            paddle.assign(paddle.concat([x, x]), output=made)
    exe, scope = static.Executor(), static.Scope()
    feed = {"x": A[0]}
    found = exe.run(static.default_main_program(), feed, [kept, declared], scope=scope)
    for a in (*found, scope.find_var("kept").get_tensor()):
        np.testing.assert_array_equal(np.asarray(a), 2.0 * A[0])
    read = paddle.tensor.create_tensor("float64", name="read")
    y = read + 1.0
    assert read.is_data
    feed["read"] = np.asarray(2.0)
    assert exe.run(static.default_main_program(), feed, [y], scope=scope)[0] == 3.0
