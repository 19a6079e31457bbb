"""Files that somebody has damaged, or made to do harm: refused, or programs like any other."""

from __future__ import annotations

import base64
import contextlib
import io
import json
import pickle
import random
import subprocess
import sys
import textwrap
import zipfile
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings, strategies as st

import autograd_engine as paddle
from autograd_engine import static, unique_name
from autograd_engine.errors import ArgumentError, ExecutionError, FeedError, FileFormatError
from autograd_engine.program.files.state import state_bytes, state_from
from tests.program.file_programs import BUILDERS, Built, build
from tests.program.mutations import JUNK, Mutator, at, mutated_bytes, mutated_text
from tests.tiers import by_default

PARSE = static.Program.parse_from_string
BUILT: dict[str, Built] = {}


def built(name: str) -> Built:
    if name not in BUILT:
        BUILT[name] = build(name)
    return BUILT[name]


def check(text: str, example: Built | None) -> bool:
    """Whether the text loads; only the documented exceptions may say that it does not."""
    with unique_name.guard():  # numbers in hostile names are nobody else's
        try:
            program = PARSE(text)
        except FileFormatError as error:
            refusal = str(error)
        else:
            refusal = ""
    if refusal:
        assert refusal.startswith("the text: ")
        assert refusal.isprintable()
        return False
    assert str(program)
    if example is not None and _small(program):
        _run(program, example)
    return True


def _small(program: static.Program) -> bool:
    """Nothing in it asks for more work than a test can wait for."""
    for block in program.blocks:
        for var in block.vars.values():
            if any(type(d) is int and d > 50 for d in var.spec.shape):
                return False
        for operator in block.ops:
            for value in operator.attrs.values():
                numbers = value if isinstance(value, tuple) else (value,)
                if any(type(v) in (int, float) and abs(v) > 50 for v in numbers):
                    return False
    return True


def _run(program: static.Program, example: Built) -> None:
    with static.scope_guard(static.Scope()), np.errstate(all="ignore"):
        exe = static.Executor()
        exe.run(example.startup)
        with contextlib.suppress(ExecutionError, FeedError):
            exe.run(program, example.feed, example.fetch)


# --- ten thousand of them

DOCUMENTS, TEXTS, STATES = 1000, 200, 800  # of each program, of each program, in all


@pytest.mark.parametrize("name", by_default(BUILDERS, ["control-flow", "momentum"]))
def test_documents_with_wrong_values(name: str) -> None:
    example = built(name)
    mutator, rng = Mutator(example.main.to_string()), random.Random(20260801)
    # A loop whose condition was changed may go on for ever, as any program may.
    runs = example if name != "control-flow" else None
    loaded = sum(
        check(mutator.document(rng, rng.choice([1, 1, 2, 4])), runs) for _ in range(DOCUMENTS)
    )
    assert 0 < loaded < DOCUMENTS


@pytest.mark.parametrize("name", BUILDERS)
def test_texts_with_wrong_characters(name: str) -> None:
    text, rng = built(name).main.to_string(), random.Random(7)
    for _ in range(TEXTS):
        wrong = mutated_text(text, rng)
        if json_of(wrong) != json.loads(text):  # a change of the layout alone is none
            assert not check(wrong, None)


def json_of(text: str) -> Any:
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return None


def test_state_files_with_wrong_bytes() -> None:
    arrays = {"w": np.arange(6.0).reshape(2, 3), "b": np.ones(3, "float32"), "n": np.array(4)}
    content, rng = state_bytes(arrays), random.Random(11)
    loaded = 0
    for _ in range(STATES):
        try:
            found = state_from(mutated_bytes(content, rng), "state")
        except FileFormatError:
            continue
        loaded += 1  # what says nothing of the arrays was hit: a time, a flag, a comment
        for name in found.keys() & arrays.keys():
            assert np.array_equal(found[name], arrays[name])
    assert loaded < STATES // 2


SCALARS = st.none() | st.booleans() | st.integers() | st.text(max_size=8)
FLOATS = st.floats(allow_nan=False, allow_infinity=False)
VALUES = SCALARS | FLOATS | st.lists(SCALARS, max_size=3) | st.sampled_from(JUNK)


@pytest.mark.thorough
@settings(
    max_examples=200, deadline=None, suppress_health_check=list(HealthCheck), derandomize=True
)
@given(st.integers(0, 10**6), VALUES)
def test_any_value_at_any_place(place: int, value: Any) -> None:
    example = built("indexing")
    mutator = Mutator(example.main.to_string())
    document = json.loads(mutator.text)
    path = mutator.paths[place % len(mutator.paths)]
    at(document, path[:-1])[path[-1]] = value
    check(json.dumps(document), example)


def test_there_are_ten_thousand() -> None:
    assert len(BUILDERS) * (DOCUMENTS + TEXTS) + STATES + 200 >= 10_000


# --- one by one: what the message says


def _changed(name: str, path: tuple[Any, ...], value: Any) -> str:
    document = json.loads(built(name).main.to_string())
    del document["checksum"]
    at(document, path[:-1])[path[-1]] = value
    return json.dumps(document)


OPERATORS = ("program", "blocks", 0, "operators")
VARIABLES = ("program", "blocks", 0, "variables")


@pytest.mark.parametrize(
    ("path", "value", "message"),
    [
        ((*OPERATORS, 0, "op"), "os.system", "there is no operation 'os.system'"),
        ((*OPERATORS, 0, "op"), "py_func", "there is no operation 'py_func'"),
        ((*OPERATORS, 0, "operands", 0), "nobody", "there is no variable 'nobody' in block 0"),
        ((*OPERATORS, 0, "operands", 0), ["x", 3], "'x' has versions up to 0, not 3"),
        ((*OPERATORS, 0, "operands", 0), "out.tmp_0", "before any operator has made it"),
        ((*OPERATORS, 0, "operands"), ["x"], "matmul takes 2 operands, got 1"),
        ((*OPERATORS, 0, "operands", 1), None, "needs all of its operands; one is null"),
        ((*OPERATORS, 0, "results"), [], "has 1 results, got 0"),
        ((*VARIABLES, 3, "is_data"), True, "writes 'hidden.tmp_0', which is fed"),
        ((*OPERATORS, 1, "results", 0), "hidden.tmp_0", "which is there already"),
        ((*OPERATORS, 0, "attrs", "x=0, y"), 1, "matmul has no attribute 'x=0, y'"),
        ((*OPERATORS, 0, "attrs", "transpose_x"), 1, "matmul takes bool there, got 1"),
        ((*OPERATORS, 0, "attrs"), [], "must be an object"),
        ((*OPERATORS, 0, "role"), "evil", "'evil' is no role"),
        ((*OPERATORS, 0, "line"), 99, "must be an integer from 0 to"),
        ((*OPERATORS, 0, "code"), "1", "has 'code', which this version does not know"),
        ((*VARIABLES, 0, "shape"), [2**62, 2**62], "is more than an array can hold"),
        ((*VARIABLES, 0, "shape"), [1] * 65, "65 dimensions, and an array has 64 at most"),
        ((*VARIABLES, 0, "shape"), ["os"], "'os' is no size"),
        ((*VARIABLES, 0, "shape"), [4, 4], None),
        ((*VARIABLES, 0, "shape"), [4, 5], "matmul"),
        ((*VARIABLES, 0, "dtype"), "object", "'object' is no dtype"),
        ((*VARIABLES, 0, "name"), "a\nb", "is no name"),
        ((*VARIABLES, 0, "name"), "\ud800", "surrogate"),
        ((*VARIABLES, 0, "name"), "hidden.w_0", "there are two variables 'hidden.w_0'"),
        ((*VARIABLES, 0, "version"), -1, "must be an integer from 0"),
        (("program", "random_seed"), "a", "must be an integer from 0"),
        (("program", "blocks"), [], "is empty; a program has one block at least"),
        (("format",), "zip", '"format" must be'),
        (("version",), 2, "is of version 2 of the format"),
        (("version",), True, "has True for its version"),
        (("fetches",), ["nobody"], "there is no variable 'nobody' in the program"),
    ],
)
def test_says_what_is_wrong(path: tuple[Any, ...], value: Any, message: str | None) -> None:
    text = _changed("regression", path, value)
    if message is None:
        PARSE(text)
        return
    with pytest.raises(FileFormatError) as caught:
        PARSE(text)
    assert message in str(caught.value)


def test_names_the_place() -> None:
    text = _changed("regression", (*OPERATORS, 1, "operands", 0), "nobody")
    with pytest.raises(FileFormatError, match=r"program\.blocks\[0\]\.operators\[1\]\.operands"):
        PARSE(text)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "is no JSON"),
        ("[]", '"format" must be'),
        ("{", "is no JSON"),
        ('{"a": 1, "a": 2}', "has an object with the key 'a' twice"),
        ('{"a": NaN}', "NaN is no number"),
        ('{"a": 1e999}', "which is no float64"),
        ('{"a": ' + "9" * 5000 + "}", "holds an integer of 5000 digits"),
        ("[" * 100_000 + "]" * 100_000, "is nested more than 100 deep"),
        ('{"a": ' * 5000 + "1" + "}" * 5000, "is nested more than 100 deep"),
        (b"\xff\xfe", "is no text in UTF-8"),
    ],
    ids=range(10),
)
def test_what_is_no_document(text: str | bytes, message: str) -> None:
    with pytest.raises(FileFormatError, match="the text: ") as caught:
        PARSE(text)
    assert message in str(caught.value)


def test_a_document_of_too_many_values() -> None:
    with pytest.raises(FileFormatError, match="the text: holds more than 20000000 values"):
        PARSE("[" + "1," * 20_000_001 + "1]")


def test_deep_nesting_when_python_would_recurse_on() -> None:
    code = """
    import sys
    sys.setrecursionlimit(10**6)
    import autograd_engine as paddle
    from autograd_engine.errors import FileFormatError
    try:
        paddle.static.Program.parse_from_string("[" * 10**6 + "]" * 10**6)
    except FileFormatError as error:
        print(error)
    """
    done = _python(code)
    assert "is nested more than 100 deep" in done.stdout, done.stderr


def test_a_checksum_finds_what_nothing_else_would() -> None:
    text = built("regression").main.to_string()
    assert '"transpose_x": false' in text
    with pytest.raises(FileFormatError, match="damaged: its checksum does not fit"):
        PARSE(text.replace('"transpose_x": false', '"transpose_x": true', 1))


# --- blocks inside of operators


def _loop(change: Any) -> str:
    document = json.loads(built("control-flow").main.to_string())
    del document["checksum"]
    blocks = document["program"]["blocks"]
    change(blocks, next(op for op in blocks[0]["operators"] if op.get("control") == "while"))
    return json.dumps(document)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda b, op: op["attrs"].update(body_block={"block": 0}), "takes 0 arguments"),
        (
            lambda b, op: b[2]["operators"].append({**op, "results": []}),
            "is inside of another operator already",
        ),
        (lambda b, op: op["attrs"].update(cond_block=op["attrs"]["body_block"]), "already"),
        (lambda b, op: op["attrs"].update(body_block={"block": 99}), "integer from 0 to"),
        (lambda b, op: op["attrs"].update(carried=99), "must be 0 to"),
        (lambda b, op: op["attrs"].update(carried=-1), "must be 0 to"),
        (lambda b, op: op["attrs"].pop("carried"), "has the attributes"),
        (lambda b, op: op.update(name="a b"), "is no name of an operation"),
        (lambda b, op: op.update(control="exec"), "there is no control flow 'exec'"),
        (lambda b, op: op["operands"].pop(), "arguments, and"),
        (lambda b, op: b[1].update(parent=1), "integer from -1 to 0"),
        (lambda b, op: b[1].update(parent=-1), "must be a block before it"),
        (lambda b, op: b[1]["results"].append("nobody"), "there is no variable 'nobody'"),
        (lambda b, op: b[1]["results"].append(b[1]["results"][0]), "must return one bool"),
    ],
)
def test_blocks_that_do_not_fit(change: Any, message: str) -> None:
    with pytest.raises(FileFormatError, match=message):
        PARSE(_loop(change))


def test_a_block_belongs_to_one_operator() -> None:
    def twice(blocks: Any, op: Any) -> None:
        results = [f"again_{k}" for k in range(len(op["results"]))]
        known = {v["name"]: v for v in blocks[0]["variables"]}
        for name, old in zip(results, op["results"], strict=True):
            blocks[0]["variables"].append({**known[old], "name": name})
        blocks[0]["operators"].append({**op, "results": results})

    with pytest.raises(FileFormatError, match="is inside of another operator already"):
        PARSE(_loop(twice))


# --- arrays that are not what they claim


def _npy(header: str, content: bytes = b"", magic: bytes = b"\x93NUMPY\x01\x00") -> str:
    line = header.encode() + b"\n"
    made = magic + len(line).to_bytes(2, "little") + line + content
    return base64.b64encode(made).decode()


HEADER = "{'descr': '<f4', 'fortran_order': False, 'shape': (%s), }"


@pytest.mark.parametrize(
    ("array", "message"),
    [
        (_npy(HEADER % "2500000000000,"), "claims 10000000000000 bytes"),
        (_npy(HEADER % ("9" * 19 + ", " + "9" * 19)), "claims"),
        (_npy(HEADER % "1,", b"\0" * 5), "claims 4 bytes for its shape [1], and has 5"),
        (_npy(HEADER.replace("<f4", "|O") % "1,", b"\0" * 8), "a header that no array of numbers"),
        (_npy(HEADER.replace("<f4", "<U4") % "1,", b"\0" * 16), "a header that no array"),
        (_npy(HEADER.replace("<f4", "<f9") % "1,", b"\0" * 9), "holds '<f9'"),
        (_npy("{'descr': __import__('os'), }"), "a header that no array of numbers has"),
        (_npy(HEADER % "-1,"), "a header that no array of numbers has"),
        (_npy(HEADER % "1,", b"\0" * 4, b"\x93NUMPY\x03\x00"), "is no array in the format npy 1.0"),
        (_npy(HEADER.replace("<f4", "|b1") % "1,", b"\x07"), "bools other than 0 and 1"),
        ("????", "must be a string in base64"),
        (7, "must be a string in base64"),
    ],
)
def test_constants_that_are_not_what_they_claim(array: Any, message: str) -> None:
    document = json.loads(built("indexing").main.to_string())
    del document["checksum"]
    operators = document["program"]["blocks"][0]["operators"]
    constant = next(op for op in operators if op.get("op") == "constant")
    constant["attrs"]["value"] = {"npy": array}
    with pytest.raises(FileFormatError) as caught:
        PARSE(json.dumps(document))
    assert message in str(caught.value)


def test_a_header_that_says_more_than_there_is() -> None:
    with pytest.raises(FileFormatError):
        PARSE(_changed("regression", (*VARIABLES, 0, "shape"), [{"sum": [[10**30, "?0"]]}]))


def _archive(
    members: dict[str, bytes], compression: int = zipfile.ZIP_STORED, comment: bytes = b""
) -> bytes:
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", compression) as archive:
        for name, content in members.items():
            archive.writestr(name, content)
        archive.comment = comment
    return file.getvalue()


def test_a_compressed_archive_is_refused_before_it_is_unpacked() -> None:
    bomb = _archive({"w.npy": b"\0" * 50_000_000}, zipfile.ZIP_DEFLATED)
    assert len(bomb) < 100_000
    with pytest.raises(FileFormatError, match=r"compressed member 'w\.npy'"):
        state_from(bomb, "bomb")


def test_members_that_claim_more_than_the_file_has() -> None:
    content = bytearray(_archive({"w.npy": b"\0" * 100}))
    place = content.rindex(b"PK\x01\x02")
    content[place + 20 : place + 28] = (2**31).to_bytes(4, "little") * 2
    with pytest.raises(FileFormatError, match="claim more bytes than the file has"):
        state_from(bytes(content), "bomb")


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", "does not begin as a zip archive does"),
        (b"PK\x03\x04", "is damaged"),
        (_archive({"w.txt": b""}), "is no array, or comes twice"),
        (_archive({"w.npy": pickle.dumps([1])}), "is no array in the format npy 1.0"),
        (b"\0" * 40, "is a file of PaddlePaddle"),
    ],
)
def test_what_is_no_file_of_arrays(content: bytes, message: str) -> None:
    with pytest.raises(FileFormatError, match=message):
        state_from(content, "state")


# --- no code is run


class Evil:
    """Runs a command when it is unpickled."""

    def __reduce__(self) -> Any:
        return exec, ("raise SystemExit('unpickled')",)


@pytest.mark.parametrize("protocol", [0, 2, 3, 4, 5])
def test_pickles_are_recognised_and_never_read(tmp_path: Any, protocol: int) -> None:
    path = tmp_path / "m"
    content = pickle.dumps({"w": Evil()}, protocol)
    for suffix in (".pdparams", ".pdopt", ".pdmodel", ".pdiparams"):
        (tmp_path / f"m{suffix}").write_bytes(content)
    main = built("regression").main
    for call in (
        lambda: static.load(main, str(path)),
        lambda: static.load_program_state(str(path)),
        lambda: static.load_inference_model(str(path)),
        lambda: static.deserialize_program(content),
        lambda: static.deserialize_persistables(main, content),
    ):
        with pytest.raises(FileFormatError, match="is a pickle"):
            call()


@pytest.mark.parametrize(
    "content",
    [
        b"\n\xde\x1b\x08\x00\x10\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01\x1a\x1c\n\x08fc_0.b_0\x12",
        b'{"base_code":{"magic":"pir","trainable":true,"version":4},"program":{}}',
    ],
)
def test_programs_of_the_reference_are_recognised(content: bytes) -> None:
    with pytest.raises(FileFormatError, match="of PaddlePaddle, in its own format"):
        static.deserialize_program(content)


def _python(code: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-c", textwrap.dedent(code)],
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )


def test_nothing_foreign_happens_while_files_are_read(tmp_path: Any) -> None:
    """Every event that Python reports while hostile files are read is one of ours."""
    path = tmp_path / "files.json"
    texts, rng = [], random.Random(5)
    for name in BUILDERS:
        text = built(name).main.to_string()
        mutator = Mutator(text)
        texts += [text, *(mutator.document(rng) for _ in range(40))]
    path.write_text(json.dumps(texts))
    done = _python(rf"""
    import json, os, re, sys
    import autograd_engine as paddle
    from autograd_engine.errors import FileFormatError
    from autograd_engine.program.files import text as _text
    from autograd_engine.static import inference_model, print_assert, save_load
    from autograd_engine.core.locations import PACKAGE_DIR
    texts = json.load(open({str(path)!r}))
    parse = paddle.static.Program.parse_from_string
    for text in texts[::41]:  # what Python imports for these is known by then
        parse(text)
    found, quiet = [], True

    sys.dont_write_bytecode = True
    ours = (PACKAGE_DIR, sys.prefix, sys.base_prefix, sys.pycache_prefix or sys.prefix)

    def expected(event, args):
        if event in ("object.__getattr__", "object.__setattr__", "builtins.id", "sys._getframe"):
            return True
        if event in ("marshal.loads", "os.listdir", "os.scandir"):  # of imports
            return True
        if event == "compile" and str(args[1]) == "<string>":  # a type that a kernel declares
            text = args[0].decode() if isinstance(args[0], bytes) else str(args[0])
            return re.fullmatch(r"[A-Za-z_]\w*([.|\[\], ]+\w*)*", text) is not None
        if event == "compile":  # a module, or the rules of an operation
            text = args[0].decode() if isinstance(args[0], bytes) else str(args[0])
            name = str(args[1])
            return name.startswith(ours) and ("<" not in name or "import" not in text)
        if event == "exec":
            return args[0].co_filename.startswith((*ours, "<string>", "<frozen"))
        if event == "import":
            return not args[1] or str(args[1]).startswith(ours)
        if event == "open":
            reads = not isinstance(args[1], str) or not set(args[1]) & set("wax+")
            return reads and str(args[0]).startswith(ours)
        return False

    def hook(event, args):
        if not quiet and not expected(event, args):
            found.append((event, repr(args)[:200]))

    sys.addaudithook(hook)
    for text in texts:
        quiet = False
        try:
            parse(text)
        except FileFormatError:
            pass
        quiet = True
    print(len(texts), found)
    """)
    assert done.stdout.strip() == f"{len(texts)} []", done.stdout + done.stderr


HOSTILE_NAMES = (
    "'); __import__('os').system('touch owned'); ('",
    '"""; owned = 1; """',
    "a):\x20raise SystemExit #",
    "__debug__",
    "raw",
    "Spec",
    "None",
    "x__spec",
    "\ufb01",  # a letter that Python reads as two
    "fi",
    "²",
    "λ",
    "@GRAD",
    "v_",
    "_",
    "__",
    "def",
    "program",
    "\\",
    "#",
)


def test_names_of_variables_are_no_code(tmp_path: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each gets a name of its own in the generated function, whatever it is."""
    monkeypatch.chdir(tmp_path)
    main = static.Program()
    with static.program_guard(main, static.Program()):
        fed = [static.data(name, [1], "float32") for name in HOSTILE_NAMES]
        x = fed[0]
        for k, v in enumerate(fed):
            v.stop_gradient = False
            x = x + v * float(k)
        loss = paddle.sum(x)
        static.append_backward(loss, parameter_list=fed)
    loaded = PARSE(main.to_string())
    feed = {name: np.full(1, 1.0 + k, "float32") for k, name in enumerate(HOSTILE_NAMES)}
    wanted = 1.0 + sum(k * (1.0 + k) for k in range(len(HOSTILE_NAMES)))
    exe = static.Executor()
    for program in (main, loaded):
        grads = [f"{name}@GRAD" for name in HOSTILE_NAMES]
        value, *found = exe.run(program, feed, [loss.name, *grads])
        assert value == pytest.approx(wanted)
        assert [g.item() for g in found] == [1.0, *range(1, len(HOSTILE_NAMES))]
        scope: dict[str, Any] = {}
        exec(compile(program.to_python(), "generated", "exec"), scope)
    assert not list(tmp_path.iterdir())
    assert "owned" not in scope


def test_a_name_that_another_one_uses_for_a_shape() -> None:
    """What is asked for the shape of ``x`` only is not the variable ``x__spec``."""
    main = static.Program()
    with static.program_guard(main, static.Program()):
        x = static.data("x", [3], "float32")
        x.stop_gradient = False
        h = paddle.tanh(x)
        h.name, main.global_block().vars["h"] = "h", main.global_block().vars.pop(h.name)
        other = static.data("h__spec", [2], "float32")
        y = paddle.sum(paddle.concat([h, other])) + paddle.sum(other)
        (grad,) = static.gradients(y, x)
    feed = {"x": np.ones(3, "float32"), "h__spec": np.full(2, 5.0, "float32")}
    total, found, given = static.Executor().run(main, feed, [y, grad, other])
    assert total == pytest.approx(3 * np.tanh(1.0) + 20.0)
    np.testing.assert_allclose(found, 1 - np.tanh(1.0) ** 2, rtol=1e-6)
    assert given.tolist() == [5.0, 5.0]


def test_lines_of_the_user_are_read_from_no_other_file(tmp_path: Any) -> None:
    """A file that names ``/etc/passwd`` as the user's learns nothing of it."""
    secret = tmp_path / "secret.txt"
    secret.write_text("the secret\n")
    document = json.loads(built("regression").main.to_string())
    del document["checksum"]
    document["program"]["lines"] = [[str(secret), 1, "given"] for _ in document["program"]["lines"]]
    program = PARSE(json.dumps(document))
    location = program.global_block().ops[0].location
    assert (location.text, str(location)) == ("given", f"{secret}:1")
    with pytest.raises(ExecutionError) as caught, static.scope_guard(static.Scope()):
        static.Executor().run(program, built("regression").feed, built("regression").fetch)
    assert "the secret" not in str(caught.value)


# --- what cannot be written


def test_python_functions_are_refused_when_a_program_is_saved(tmp_path: Any) -> None:
    main = static.Program()
    with static.program_guard(main, static.Program()):
        x = static.data("x", [2], "float32")
        out = main.current_block().create_var(name="out", shape=[2], dtype="float32")
        static.py_func(lambda a: np.asarray(a) * 2, x, out)
    with pytest.raises(FileFormatError, match=r"py_func of test_hostile_files\.py:\d+ .*py_func"):
        main.to_string()
    assert main.to_string(throw_on_error=False) == str(main)
    with pytest.raises(FileFormatError, match="no file can hold"):
        static.save(main, str(tmp_path / "m"))
    assert not list(tmp_path.iterdir())


def test_operations_of_the_user_are_refused() -> None:
    cube = paddle.autograd.defop("cube", lambda x: x**3, inputs="x")
    cube.vjp(x=lambda xp, g, x: g * (3.0 * x * x))
    main = static.Program()
    with static.program_guard(main, static.Program()):
        x = static.data("x", [2], "float32")
        x.stop_gradient = False
        y = cube(x)
        static.gradients(y, x)
    with pytest.raises(FileFormatError, match=r"cube of test_hostile_files\.py:\d+"):
        main.to_string()


def test_an_operation_of_the_user_with_a_name_of_the_table_is_refused() -> None:
    mine = paddle.autograd.defop("mine", lambda x: x * 0, inputs="x")
    mine.name = "tanh"
    main = static.Program()
    with static.program_guard(main, static.Program()):
        mine(static.data("x", [2], "float32"))
    with pytest.raises(FileFormatError, match="in no table of operations"):
        main.to_string()


def test_names_that_cannot_be_written() -> None:
    main = static.Program()
    with static.program_guard(main, static.Program()):
        static.data("a\nb", [2], "float32")
    with pytest.raises(FileFormatError, match=r"'a\\nb' cannot stand in a file: .*another"):
        main.to_string()


@pytest.mark.parametrize("value", [None, 3, ["a"]])
def test_what_is_no_text(value: Any) -> None:
    with pytest.raises(TypeError, match="text must be a str or bytes"):
        PARSE(value)


def test_the_scope_stays_as_it_was_when_a_file_does_not_fit(tmp_path: Any) -> None:
    example = built("regression")
    with static.scope_guard(static.Scope()):
        static.Executor().run(example.startup)
        static.save(example.main, str(tmp_path / "m"))
        before = static.global_scope().find_var("hidden.w_0").value.copy()
        with unique_name.guard(), static.program_guard(static.Program(), static.Program()):
            x = static.data("x", [None, 4], "float32")
            static.nn.fc(x, 7, name="hidden")
            other = static.default_main_program()
        with pytest.raises(ArgumentError, match=r"hidden\.w_0 has shape \[4, 3\]"):
            static.load(other, str(tmp_path / "m"))
        assert np.array_equal(static.global_scope().find_var("hidden.w_0").value, before)
