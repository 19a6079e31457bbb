"""Expressions in open sizes beside what two versions of Paddle make of them."""

import json
import warnings

import numpy as np

import autograd_engine as paddle
from tests.jit.open_size_reference import EXPRESSIONS, TARGET, built, outcome, traced

# Python has to know these numbers: a loop that is traced, and what `len` returns, are refused with
# the line, and with what to write.
KNOWN_TO_PYTHON = {"len", "loop"}
# A complex number is of the default dtype here.
OTHERWISE = {("built", "power")}


def agree(found: object, wanted: object) -> bool:
    if not isinstance(found, list) or not isinstance(wanted, list):
        return found == wanted
    for a, b in zip(found, wanted, strict=True):
        (*spec, number), (*other, close) = a.rsplit(" ", 1), b.rsplit(" ", 1)
        if spec != other or not np.isclose(float(number), float(close), rtol=2e-3, atol=2e-3):
            return False
    return True


def test_what_the_reference_makes_of_them() -> None:
    golden, failures = json.loads(TARGET.read_text()), []
    for how in (traced, built):
        for name in EXPRESSIONS:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                found = outcome(paddle, how, name)
            for version, outcomes in golden.items():
                wanted = outcomes[how.__name__][name]
                # One version refuses what the other takes: see 3.3.1 for an answer.
                refused = wanted == "refused" and version != "3.3.1"
                if refused or agree(found, wanted) or (how.__name__, name) in OTHERWISE:
                    continue
                if name not in KNOWN_TO_PYTHON or found != "refused":
                    failures.append(f"{how.__name__} {name}: {found}, and {wanted} in {version}")
    assert not failures, "\n".join(failures)
