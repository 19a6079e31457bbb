"""Learning rates, held to those that PaddlePaddle 3.3.1 gives."""

from __future__ import annotations

import copy
import json
import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import autograd_engine as paddle
from autograd_engine.errors import ArgumentError
from tests.over import over

lr = paddle.optimizer.lr

EPOCHS = (0, 1, 5, 10, 17, 20, 33, 40, 61, 90, 118, 119)

# The scheduler, its rates in these epochs, and the sum of all 120.
OBSERVED: dict[str, tuple[Callable[[], Any], list[float], float]] = {
    "noam": (
        lambda: lr.NoamDecay(d_model=64, warmup_steps=30, learning_rate=2.0),
        [
            0.0,
            0.0015214515486254615,
            0.007607257743127307,
            0.015214515486254614,
            0.025864676326632845,
            0.03042903097250923,
            0.04351941398892446,
            0.03952847075210474,
            0.032009219983223994,
            0.026352313834736494,
            0.023014365447458083,
            0.022917462425705283,
        ],
        3.4119105630141844,
    ),
    "piecewise": (
        lambda: lr.PiecewiseDecay([10, 40, 90], [0.5, 0.1, 0.03, 0.005]),
        [0.5, 0.5, 0.5, 0.1, 0.1, 0.1, 0.1, 0.03, 0.03, 0.005, 0.005, 0.005],
        9.65,
    ),
    "natural": (
        lambda: lr.NaturalExpDecay(0.5, gamma=0.03),
        [
            0.5,
            0.4852227667742541,
            0.4303539882125289,
            0.37040911034085894,
            0.30024778940613295,
            0.2744058180470132,
            0.18578834551102286,
            0.15059710595610107,
            0.0802067838875864,
            0.03360275636987489,
            0.014506663541098527,
            0.014077926840150053,
        ],
        16.45565618904295,
    ),
    "inverse": (
        lambda: lr.InverseTimeDecay(0.5, gamma=0.1),
        [
            0.5,
            0.45454545454545453,
            0.3333333333333333,
            0.25,
            0.18518518518518517,
            0.16666666666666666,
            0.11627906976744184,
            0.1,
            0.0704225352112676,
            0.05,
            0.0390625,
            0.03875968992248062,
        ],
        13.059653883027073,
    ),
    "exponential": (
        lambda: lr.ExponentialDecay(0.5, gamma=0.97),
        [
            0.5,
            0.485,
            0.42936701284999995,
            0.36871206344746404,
            0.29791302192940244,
            0.2718971714633735,
            0.18299416213424458,
            0.14785614369956623,
            0.07799123447546465,
            0.0322423054732661,
            0.013741515996288067,
            0.013329270516399424,
        ],
        16.235686919969737,
    ),
    "polynomial": (
        lambda: lr.PolynomialDecay(0.5, decay_steps=50, end_lr=0.01, power=2.5),
        [
            0.5,
            0.4758662719189703,
            0.38653240099624897,
            0.29049236709757364,
            0.18340272532391175,
            0.14663885245419767,
            0.04302884391316171,
            0.01876538647179917,
            0.01,
            0.01,
            0.01,
            0.01,
        ],
        8.447041892535628,
    ),
    "polynomial, cycle": (
        lambda: lr.PolynomialDecay(0.5, decay_steps=35, end_lr=0.01, power=1.5, cycle=True),
        [
            0.5,
            0.47915072204996123,
            0.39884444190447166,
            0.3058039891549808,
            0.19071856573136028,
            0.1474772708486752,
            0.016693280212272607,
            0.1474772708486752,
            0.03258982071642003,
            0.03645751311064592,
            0.040523761236125534,
            0.03846642759462452,
        ],
        12.521464827838109,
    ),
    "step": (
        lambda: lr.StepDecay(0.5, step_size=7, gamma=0.8),
        [
            0.5,
            0.5,
            0.5,
            0.4,
            0.32000000000000006,
            0.32000000000000006,
            0.20480000000000004,
            0.16384000000000004,
            0.08388608000000004,
            0.03435973836800002,
            0.014073748835532812,
            0.011258999068426251,
        ],
        17.117194031673513,
    ),
    "multistep": (
        lambda: lr.MultiStepDecay(0.5, milestones=[3, 30, 100], gamma=0.3),
        [
            0.5,
            0.5,
            0.15,
            0.15,
            0.15,
            0.15,
            0.045,
            0.045,
            0.045,
            0.045,
            0.013499999999999998,
            0.013499999999999998,
        ],
        8.969999999999999,
    ),
    "lambda": (
        lambda: lr.LambdaDecay(0.5, lambda e: 0.95**e),
        [
            0.5,
            0.475,
            0.3868904687499999,
            0.29936846961918934,
            0.20906016760958854,
            0.17924296120427094,
            0.09201295511778791,
            0.06425607828255156,
            0.021883154518802173,
            0.004944182354829475,
            0.0011758594895834675,
            0.001117066515104294,
        ],
        9.97877573621301,
    ),
    "multiplicative": (
        lambda: lr.MultiplicativeDecay(0.5, lambda e: 1 - 0.5 / (e + 1)),
        [
            0.5,
            0.375,
            0.2255859375,
            0.16818809509277344,
            0.13206059957155958,
            0.12238567124768451,
            0.0964026543164875,
            0.0878433924473962,
            0.07150783587514992,
            0.059061954151782434,
            0.05166487614663686,
            0.05144960582935921,
        ],
        11.399355004875567,
    ),
    "cosine": (
        lambda: lr.CosineAnnealingDecay(0.5, T_max=17, eta_min=0.01),
        [
            0.5,
            0.49582840942255596,
            0.4026454859129179,
            0.18795256743233968,
            0.01,
            0.04669680174624454,
            0.49582840942255574,
            0.3642058971652517,
            0.3220474325676562,
            0.10735451408708316,
            0.014171590577444226,
            0.01,
        ],
        30.599999999999998,
    ),
    "cosine, one epoch": (
        lambda: lr.CosineAnnealingDecay(0.5, T_max=1),
        [0.5, 0.0, 0.0, 0.5, 0.0, 0.5, 0.0, 0.5, 0.0, 0.5, 0.5, 0.0],
        30.0,
    ),
    "restarts": (
        lambda: lr.CosineAnnealingWarmRestarts(0.5, T_0=9, eta_min=0.01),
        [
            0.5,
            0.48522469209254754,
            0.21245619647160208,
            0.48522469209254754,
            0.024775307907452464,
            0.4426808885641496,
            0.13250000000000006,
            0.297543803528398,
            0.06731911143585041,
            0.5,
            0.48522469209254754,
            0.4426808885641496,
        ],
        34.4479055806567,
    ),
    "restarts, longer": (
        lambda: lr.CosineAnnealingWarmRestarts(0.5, T_0=5, T_mult=2),
        [
            0.5,
            0.45225424859373686,
            0.5,
            0.25,
            0.4877641290737884,
            0.42677669529663687,
            0.012235870926211617,
            0.4809698831278217,
            0.1365023750651133,
            0.45786740307563634,
            0.22061565063554062,
            0.21089138373994235,
        ],
        37.39245688606445,
    ),
    "linear": (
        lambda: lr.LinearLR(0.5, total_steps=60, start_factor=0.1, end_factor=0.9),
        [
            0.05,
            0.05666666666666667,
            0.08333333333333334,
            0.11666666666666663,
            0.16333333333333336,
            0.18333333333333338,
            0.27,
            0.31666666666666676,
            0.45,
            0.45,
            0.45,
            0.45,
        ],
        41.800000000000004,
    ),
    "warmup": (
        lambda: lr.LinearWarmup(0.5, warmup_steps=20, start_lr=0.001, end_lr=0.5),
        [0.001, 0.02595, 0.12575, 0.2505, 0.42515000000000003, 0.5, 0.5, 0.5, 0.5, 0.5, 0.5, 0.5],
        54.7605,
    ),
    "warmup, exponential": (
        lambda: lr.LinearWarmup(lr.ExponentialDecay(0.5, 0.95), 10, 0.0, 0.5),
        [
            0.0,
            0.05,
            0.25,
            0.5,
            0.34916864804687486,
            0.29936846961918934,
            0.1536784338625118,
            0.10731938197146863,
            0.036548863256438746,
            0.00825768719250679,
            0.001963900024406738,
            0.0018657050231864012,
        ],
        12.21455160455945,
    ),
    "warmup, cosine": (
        lambda: lr.LinearWarmup(lr.CosineAnnealingDecay(0.5, T_max=40), 10, 0.0, 0.5),
        [
            0.0,
            0.05,
            0.25,
            0.5,
            0.46316004108852304,
            0.42677669529663687,
            0.19163865903602367,
            0.07322330470336313,
            0.08763798791745397,
            0.5,
            0.10305368692688177,
            0.08763798791745439,
        ],
        32.2130220183091,
    ),
    "warmup, warmup": (
        lambda: lr.LinearWarmup(lr.LinearWarmup(0.9, 10, 0.5, 0.9), 10, 0.0, 0.5),
        [0.0, 0.05, 0.25, 0.5, 0.78, 0.9, 0.9, 0.9, 0.9, 0.9, 0.9, 0.9],
        99.05,
    ),
    "one cycle": (
        lambda: lr.OneCycleLR(1.0, total_steps=120),
        [
            0.040000000000000036,
            0.0419323388822852,
            0.08753494340683887,
            0.2207248951078079,
            0.4984648814317528,
            0.6268100482990309,
            0.9922862025273422,
            0.9912841082929825,
            0.7816818630289077,
            0.2664390492948826,
            0.0004496126410401158,
            0.0001,
        ],
        60.22425,
    ),
    "one cycle, linear": (
        lambda: lr.OneCycleLR(
            1.0,
            total_steps=150,
            divide_factor=10.0,
            end_learning_rate=0.001,
            phase_pct=0.4,
            anneal_strategy="linear",
        ),
        [
            0.1,
            0.1152542372881356,
            0.17627118644067796,
            0.25254237288135595,
            0.3593220338983051,
            0.4050847457627119,
            0.6033898305084745,
            0.7101694915254237,
            0.9778,
            0.6558999999999999,
            0.34509999999999996,
            0.3340000000000001,
        ],
        72.687,
    ),
    "one cycle, three phases": (
        lambda: lr.OneCycleLR(1.0, total_steps=140, phase_pct=0.25, three_phase=True),
        [
            0.040000000000000036,
            0.04204759537838354,
            0.09032162014957001,
            0.2307353745379569,
            0.52,
            0.6513582352345998,
            0.9979524046216165,
            0.9281042251502148,
            0.13695173090548504,
            0.03127086328843357,
            0.008110477332227556,
            0.007415190129191459,
        ],
        36.755123088534525,
    ),
    "cyclic": (
        lambda: lr.CyclicLR(0.1, 1.0, step_size_up=7, step_size_down=12),
        [
            0.1,
            0.22857142857142845,
            0.7428571428571427,
            0.7750000000000002,
            0.24999999999999986,
            0.2285714285714279,
            0.475,
            0.3571428571428569,
            0.614285714285716,
            0.47500000000000053,
            0.6142857142857138,
            0.7428571428571438,
        ],
        65.22857142857143,
    ),
    "cyclic, halving": (
        lambda: lr.CyclicLR(0.1, 1.0, step_size_up=9, mode="triangular2"),
        [
            0.1,
            0.20000000000000007,
            0.5999999999999999,
            0.8999999999999999,
            0.20000000000000007,
            0.20000000000000007,
            0.2500000000000003,
            0.20000000000000007,
            0.1875000000000001,
            0.1,
            0.11250000000000002,
            0.11093750000000002,
        ],
        28.040625000000002,
    ),
    "cyclic, exponential": (
        lambda: lr.CyclicLR(0.1, 1.0, step_size_up=9, mode="exp_range", exp_gamma=0.99),
        [
            0.1,
            0.19900000000000007,
            0.5754950249499998,
            0.8235056600070434,
            0.18429431933839271,
            0.26358138751944626,
            0.3153191597794829,
            0.3675887034278722,
            0.47917955317679795,
            0.1,
            0.3443672207426438,
            0.3116831049683153,
        ],
        43.513916204051576,
    ),
    "cyclic, function": (
        lambda: lr.CyclicLR(
            0.1,
            1.0,
            step_size_up=9,
            scale_fn=lambda x: 1 / (5 ** (x * 0.0001)),
            scale_mode="iterations",
        ),
        [
            0.1,
            0.19998390691595141,
            0.5995978023716234,
            0.8987134852305789,
            0.19972676951071716,
            0.2993572598403683,
            0.3984108802250763,
            0.4974331705106012,
            0.793161324633847,
            0.1,
            0.8849502659527841,
            0.7867209503409018,
        ],
        66.06967037996276,
    ),
}

PLATEAUS: dict[str, tuple[Callable[[], Any], list[float], float]] = {
    "plateau": (
        lambda: lr.ReduceOnPlateau(0.5, factor=0.5, patience=3, cooldown=2),
        [
            0.5,
            0.5,
            0.5,
            0.5,
            0.5,
            0.5,
            0.5,
            0.5,
            0.03125,
            0.001953125,
            6.103515625e-05,
            6.103515625e-05,
        ],
        24.49957275390625,
    ),
    "plateau, max": (
        lambda: lr.ReduceOnPlateau(
            0.5,
            mode="max",
            factor=0.7,
            patience=2,
            threshold=0.05,
            threshold_mode="abs",
            min_lr=0.01,
        ),
        [
            0.5,
            0.5,
            0.35,
            0.17149999999999996,
            0.08403499999999997,
            0.058824499999999974,
            0.01,
            0.01,
            0.01,
            0.01,
            0.01,
            0.01,
        ],
        5.77113366285,
    ),
    "plateau, least": (
        lambda: lr.ReduceOnPlateau(0.5, factor=0.1, patience=5, threshold=0.1, min_lr=0.001),
        [0.5, 0.5, 0.5, 0.5, 0.5, 0.5, 0.5, 0.5, 0.001, 0.001, 0.001, 0.001],
        20.897,
    ),
}

# Rates after step(33), after step(5), and after one more step().
JUMPS = {
    "noam": (0.04351941398892446, 0.007607257743127307, 0.00912870929175277),
    "piecewise": (0.1, 0.5, 0.5),
    "natural": (0.18578834551102286, 0.4303539882125289, 0.417635105705636),
    "inverse": (0.11627906976744184, 0.3333333333333333, 0.3125),
    "exponential": (0.18299416213424458, 0.42936701284999995, 0.4164860024644999),
    "polynomial": (0.04302884391316171, 0.38653240099624897, 0.36596128051191185),
    "polynomial, cycle": (0.016693280212272607, 0.39884444190447166, 0.3795651498721166),
    "step": (0.20480000000000004, 0.5, 0.5),
    "multistep": (0.045, 0.15, 0.15),
    "lambda": (0.09201295511778791, 0.3868904687499999, 0.3675459453124999),
    "multiplicative": (0.0964026543164875, 0.2255859375, 0.20947265625),
    "cosine": (0.49582840942255596, 0.4026454859129178, 0.36420589716525187),
    "cosine, one epoch": (0.0, 0.0, 0.5),
    "restarts": (0.13250000000000006, 0.21245619647160208, 0.13250000000000006),
    "restarts, longer": (0.012235870926211617, 0.5, 0.4877641290737884),
    "warmup": (0.5, 0.12575, 0.1507),
    "warmup, exponential": (0.1536784338625118, 0.25, 0.3),
    "warmup, cosine": (0.19163865903602367, 0.25, 0.3),
    "warmup, warmup": (0.9, 0.25, 0.3),
    "one cycle": (0.9922862025273422, 0.08753494340683887, 0.10794457907110433),
    "one cycle, linear": (0.6033898305084745, 0.17627118644067796, 0.1915254237288136),
    "one cycle, three phases": (0.9979524046216165, 0.09032162014957001, 0.11189577484978519),
    "cyclic": (0.475, 0.7428571428571427, 0.8714285714285717),
    "cyclic, halving": (0.2500000000000003, 0.5999999999999999, 0.6999999999999998),
    "cyclic, exponential": (0.3153191597794829, 0.5754950249499998, 0.6648880896405999),
    "cyclic, function": (0.3984108802250763, 0.5995978023716234, 0.6994208820128593),
}


def rates(scheduler: Any, epochs: int = 120) -> list[float]:
    found = []
    for _ in range(epochs):
        found.append(scheduler())
        scheduler.step()
    return found


def losses() -> list[float]:
    return [1 / (1 + e % 40) + (0.3 if e > 60 else 0.0) for e in range(120)]


@pytest.mark.parametrize("name", OBSERVED)
def test_rates_are_those_of_the_reference(name: str) -> None:
    make, some, total = OBSERVED[name]
    found = rates(make())
    np.testing.assert_allclose([found[e] for e in EPOCHS], some, rtol=1e-13, atol=1e-16)
    assert math.isclose(math.fsum(found), total, rel_tol=1e-13)
    assert all(type(rate) is float for rate in found)


@pytest.mark.parametrize("name", PLATEAUS)
def test_plateaus_are_those_of_the_reference(name: str) -> None:
    make, some, total = PLATEAUS[name]
    scheduler, found = make(), []
    for loss in losses():
        scheduler.step(loss)
        found.append(scheduler())
    np.testing.assert_allclose([found[e] for e in EPOCHS], some, rtol=1e-13)
    assert math.isclose(math.fsum(found), total, rel_tol=1e-13)


@pytest.mark.parametrize("name", JUMPS)
def test_jumps_are_those_of_the_reference(name: str) -> None:
    scheduler = OBSERVED[name][0]()
    found = []
    for epoch in (33, 5, None):
        scheduler.step(epoch)
        found.append(scheduler())
    np.testing.assert_allclose(found, JUMPS[name], rtol=1e-13, atol=1e-16)


@pytest.mark.parametrize("name", [*OBSERVED, "linear"])
def test_an_epoch_that_is_named_has_the_rate_that_steps_lead_to(name: str) -> None:
    make = OBSERVED[name][0]
    stepped = rates(make(), 60)
    for epoch in (0, 7, 20, 59):
        scheduler = make()
        scheduler.step(epoch)
        assert scheduler.last_epoch == epoch
        assert scheduler() == pytest.approx(stepped[epoch], rel=1e-10, abs=1e-15)


@pytest.mark.parametrize("name", ["linear", "cosine", "restarts, longer", "step", "noam"])
def test_a_scheduler_that_starts_late_has_the_rates_of_these_epochs(name: str) -> None:
    make = {
        "linear": lambda e: lr.LinearLR(0.5, 60, 0.1, 0.9, last_epoch=e),
        "cosine": lambda e: lr.CosineAnnealingDecay(0.5, 17, 0.01, last_epoch=e),
        "restarts, longer": lambda e: lr.CosineAnnealingWarmRestarts(0.5, 5, 2, last_epoch=e),
        "step": lambda e: lr.StepDecay(0.5, 7, 0.8, last_epoch=e),
        "noam": lambda e: lr.NoamDecay(64, 30, 2.0, last_epoch=e),
    }[name]
    expected = rates(make(-1), 60)[40:]
    assert rates(make(39), 20) == pytest.approx(expected, rel=1e-9)


# --- states


@over("name", OBSERVED)
@over("epoch", [0, 3, 29, 50])
def test_a_state_resumes_with_the_same_bits(name: str, epoch: int) -> None:
    make = OBSERVED[name][0]
    first = make()
    for _ in range(epoch):
        first.step()
    state = json.loads(json.dumps(first.state_dict()))  # numbers only
    second = make()
    second.step(7)
    second.set_state_dict(state)
    assert rates(second, 60) == rates(first, 60)


def test_the_state_of_a_plateau_resumes_with_the_same_decisions() -> None:
    make = PLATEAUS["plateau"][0]
    first = make()
    for loss in losses()[:50]:
        first.step(np.float32(loss))
    second = make()
    second.set_state_dict(json.loads(json.dumps(first.state_dict())))
    for loss in losses()[50:]:
        first.step(paddle.to_tensor(np.float32(loss)))
        second.step(np.full((1, 1), loss, np.float32))
        assert second() == first()
    assert second.state_dict() == first.state_dict()


def test_restarts_are_found_from_the_epoch_alone() -> None:
    restarts = lr.CosineAnnealingWarmRestarts(0.5, 5, 2)
    for _ in range(23):
        restarts.step()
    assert restarts.state_dict() == {"last_epoch": 23, "last_lr": restarts()}
    assert (restarts.T_cur, restarts.T_i) == (8, 20)


def test_a_copy_goes_its_own_way() -> None:
    first = lr.LinearWarmup(lr.ExponentialDecay(0.5, 0.9), 3, 0.0, 0.5)
    second = copy.deepcopy(first)
    rates(second, 10)
    assert first() == 0.0
    assert first.last_epoch == 0


def test_a_state_of_another_scheduler_changes_nothing() -> None:
    plateau = lr.ReduceOnPlateau(0.5)
    with pytest.raises(ArgumentError, match="has no cooldown_counter, best, num_bad_epochs"):
        plateau.set_state_dict(lr.StepDecay(0.1, 2).state_dict())
    assert plateau() == 0.5
    step = lr.StepDecay(0.5, 2)
    with pytest.warns(UserWarning, match="StepDecay makes no use of cooldown_counter, best"):
        step.set_state_dict(plateau.state_dict())
    for bad in ([1], None, "state"):
        with pytest.raises(TypeError, match=r"what state_dict\(\) has returned"):
            step.set_state_dict(bad)
    with pytest.raises(ArgumentError, match="last_lr in this state is no number"):
        step.set_state_dict({"last_epoch": 1, "last_lr": "0.1"})
    warmup = lr.LinearWarmup(lr.StepDecay(0.5, 2), 3, 0.0, 0.5)
    before = warmup.state_dict()
    with pytest.raises(ArgumentError, match="no LinearWarmup_LR, the state of the StepDecay"):
        warmup.set_state_dict(lr.LinearWarmup(0.5, 3, 0.0, 0.5).state_dict())
    with pytest.raises(ArgumentError, match="StepDecay: the state has no last_lr"):
        warmup.set_state_dict(
            {"last_epoch": 5, "last_lr": 1.0, "LinearWarmup_LR": {"last_epoch": 1}}
        )
    assert warmup.state_dict() == before


# --- schedulers of the user's


class Halving(lr.LRScheduler):
    def get_lr(self) -> float:
        return self.base_lr * 0.5**self.last_epoch


def test_a_scheduler_of_the_users() -> None:
    assert rates(Halving(1.0), 3) == [1.0, 0.5, 0.25]
    assert rates(lr.LinearWarmup(Halving(1.0), 2, 0.0, 1.0), 5) == [0.0, 0.5, 1.0, 0.5, 0.25]
    assert repr(Halving(1.0)) == "Halving(learning_rate=1.0, last_epoch=0, last_lr=1.0)"


def test_a_state_with_more_in_it() -> None:
    class Counting(lr.LRScheduler):
        def __init__(self) -> None:
            self.calls = np.float32(0)
            super().__init__(0.1)

        def state_keys(self) -> None:
            self.keys = ["last_epoch", "last_lr", "calls"]

        def get_lr(self) -> Any:
            self.calls += 1
            return paddle.to_tensor([0.5])

    first, second = Counting(), Counting()
    first.step()
    assert first.state_dict() == {"last_epoch": 1, "last_lr": 0.5, "calls": 2.0}
    second.set_state_dict(first.state_dict())
    assert second.calls == 2


def test_without_get_lr() -> None:
    with pytest.raises(NotImplementedError, match="LRScheduler has no get_lr"):
        lr.LRScheduler(0.1)


def test_a_step_that_fails_leaves_the_scheduler_where_it_was() -> None:
    scheduler = lr.LambdaDecay(0.5, lambda e: 1 / (3 - e))
    rates(scheduler, 2)
    with pytest.raises(ZeroDivisionError):
        scheduler.step()
    assert scheduler.state_dict() == {"last_epoch": 2, "last_lr": 0.5}


@pytest.mark.parametrize(
    ("value", "error", "hint"),
    [
        (None, TypeError, "learning rate of epoch 1 must be a number, got None"),
        ("0.1", TypeError, "must be a number"),
        (math.nan, ArgumentError, "epoch 1 would be nan"),
        (math.inf, ArgumentError, "epoch 1 would be inf"),
        (1j, TypeError, "must be a number"),
    ],
)
def test_what_get_lr_returns_is_checked(value: Any, error: type[Exception], hint: str) -> None:
    class Odd(lr.LRScheduler):
        def get_lr(self) -> Any:
            return value if self.last_epoch else 0.1

    scheduler = Odd(0.1)
    with pytest.raises(error, match=hint):
        scheduler.step()
    assert scheduler.last_epoch == 0


# --- details


def test_verbose(capsys: pytest.CaptureFixture[str]) -> None:
    scheduler = lr.StepDecay(0.5, 1, 0.5, verbose=True)
    scheduler.step()
    assert capsys.readouterr().out == (
        "Epoch 0: StepDecay set learning rate to 0.5.\n"
        "Epoch 1: StepDecay set learning rate to 0.25.\n"
    )
    plateau = lr.ReduceOnPlateau(0.5, factor=0.5, patience=0, verbose=True)
    plateau.step(1.0)
    plateau.step(2.0)
    out = capsys.readouterr().out
    assert out == "Epoch 2: ReduceOnPlateau set learning rate to 0.25.\n"


def test_parts_of_an_epoch() -> None:
    scheduler = lr.CosineAnnealingWarmRestarts(1.0, T_0=4)
    scheduler.step(4.0 + 3 / 2)
    assert scheduler() == pytest.approx((1 + math.cos(math.pi * 1.5 / 4)) / 2)
    assert scheduler.last_epoch == 5
    scheduler.step()
    assert scheduler() == pytest.approx(0.5)


def test_a_product_asks_once_for_each_epoch() -> None:
    asked = []

    def factor(epoch: int) -> float:
        asked.append(epoch)
        return 0.9

    scheduler = lr.MultiplicativeDecay(1.0, factor)
    rates(scheduler, 50)
    assert asked == list(range(1, 51))
    scheduler.step(3)
    assert scheduler() == 0.9 * 0.9 * 0.9


def test_a_metric_that_is_nan_is_no_improvement() -> None:
    scheduler = lr.ReduceOnPlateau(0.5, factor=0.5, patience=1)
    scheduler.step(math.nan)
    scheduler.step(1.0)
    assert scheduler.best == 1.0
    for _ in range(2):
        scheduler.step(math.nan)
    assert scheduler() == 0.25


def test_one_cycle_with_phases_of_no_length() -> None:
    top = lr.OneCycleLR(1.0, total_steps=4, phase_pct=0.25)
    assert top() == 1.0
    flat = lr.OneCycleLR(1.0, total_steps=4, phase_pct=1.0)
    assert rates(flat, 4)[-1] == 1.0
    assert flat() == pytest.approx(1e-4)


BAD: list[tuple[Callable[[], Any], type[Exception], str]] = [
    (lambda: Halving("0.1"), TypeError, "Halving: learning_rate must be a number, got '0.1'"),
    (lambda: Halving(True), TypeError, "learning_rate must be a number, got True"),
    (lambda: Halving(-0.1), ArgumentError, "learning_rate must be at least 0, got -0.1"),
    (lambda: Halving(math.nan), ArgumentError, "learning_rate must be at least 0, got nan"),
    (lambda: Halving(0.1, last_epoch=0.5), TypeError, "last_epoch must be an int"),
    (lambda: Halving(0.1, last_epoch=-3), ArgumentError, "last_epoch must be an int, at least -1"),
    (lambda: Halving(0.1, verbose="yes"), TypeError, "verbose must be True or False"),
    (lambda: Halving(0.1).step("1"), TypeError, "Halving: epoch must be a number, got '1'"),
    (lambda: Halving(0.1).step(-1), ArgumentError, "epoch must be at least 0, got -1"),
    (lambda: lr.NoamDecay(0, 10), ArgumentError, "d_model must be greater than 0, got 0"),
    (lambda: lr.NoamDecay(10, 0), ArgumentError, "warmup_steps must be greater than 0"),
    (lambda: lr.PiecewiseDecay([], [0.1]), ArgumentError, "boundaries is empty"),
    (lambda: lr.PiecewiseDecay([1], [0.1]), ArgumentError, "1 boundaries part 2 values, got 1"),
    (lambda: lr.PiecewiseDecay([2, 1], [3, 2, 1]), ArgumentError, "boundaries must increase"),
    (lambda: lr.PiecewiseDecay([1], 0.1), TypeError, "values must be a list or a tuple"),
    (lambda: lr.PiecewiseDecay([1], [0.1, None]), TypeError, r"values\[1\] must be a number"),
    (lambda: lr.NaturalExpDecay(0.1, 0), ArgumentError, "gamma must be greater than 0"),
    (lambda: lr.InverseTimeDecay(0.1, -1.0), ArgumentError, "gamma must be at least 0"),
    (lambda: lr.ExponentialDecay(0.1, 1.0), ArgumentError, "greater than 0 and less than 1"),
    (lambda: lr.PolynomialDecay(0.1, 0), ArgumentError, "decay_steps must be a positive int"),
    (lambda: lr.PolynomialDecay(0.1, 5.0), TypeError, "decay_steps must be an int, got 5.0"),
    (lambda: lr.PolynomialDecay(0.1, 5, power=0), ArgumentError, "power must be greater than 0"),
    (lambda: lr.PolynomialDecay(0.1, 5, cycle=1), TypeError, "cycle must be True or False"),
    (lambda: lr.StepDecay(0.1, 2.0), TypeError, "step_size must be an int"),
    (lambda: lr.StepDecay(0.1, 2, gamma=1.0), ArgumentError, "gamma must be .* less than 1"),
    (lambda: lr.MultiStepDecay(0.1, 5), TypeError, "milestones must be a list or a tuple"),
    (lambda: lr.MultiStepDecay(0.1, [5, 5]), ArgumentError, "milestones must increase"),
    (lambda: lr.LambdaDecay(0.1, 0.9), TypeError, "lr_lambda must be a function"),
    (lambda: lr.MultiplicativeDecay(0.1, None), TypeError, "lr_lambda must be a function"),
    (lambda: lr.CosineAnnealingDecay(0.1, 1.5), TypeError, "T_max must be an int"),
    (lambda: lr.CosineAnnealingDecay(0.1, 0), ArgumentError, "T_max must be a positive int"),
    (lambda: lr.CosineAnnealingWarmRestarts(0.1, 0), ArgumentError, "T_0 must be a positive"),
    (lambda: lr.CosineAnnealingWarmRestarts(0.1, 5, 0), ArgumentError, "T_mult must be a pos"),
    (lambda: lr.LinearLR(0.1, 5, start_factor=0.0), ArgumentError, "greater than 0 and at most 1"),
    (lambda: lr.LinearLR(0.1, 5, end_factor=1.5), ArgumentError, "at least 0 and at most 1"),
    (lambda: lr.LinearWarmup("0.1", 5, 0.0, 0.1), TypeError, "learning_rate must be a number"),
    (lambda: lr.LinearWarmup(0.1, 5, 0.1, 0.1), ArgumentError, "must be greater than start_lr"),
    (
        lambda: lr.LinearWarmup(lr.ReduceOnPlateau(0.1), 5, 0.0, 0.1),
        ArgumentError,
        "ReduceOnPlateau goes by a metric",
    ),
    (lambda: lr.ReduceOnPlateau(0.1, mode="least"), ArgumentError, "mode must be 'min' or 'max'"),
    (lambda: lr.ReduceOnPlateau(0.1, threshold_mode=1), ArgumentError, "must be 'rel' or 'abs'"),
    (lambda: lr.ReduceOnPlateau(0.1, factor=1.0), ArgumentError, "factor must be .* less than 1"),
    (lambda: lr.ReduceOnPlateau(0.1).step(), TypeError, "metrics"),
    (lambda: lr.ReduceOnPlateau(0.1).step(None), TypeError, "the metric of the epoch"),
    (lambda: lr.ReduceOnPlateau(0.1).step(np.ones(2)), ArgumentError, "has 2 elements"),
    (lambda: lr.OneCycleLR(1.0, 10.0), TypeError, "total_steps must be an int"),
    (lambda: lr.OneCycleLR(1.0, 10, phase_pct=1.5), ArgumentError, "at least 0 and at most 1"),
    (lambda: lr.OneCycleLR(1.0, 10, anneal_strategy="sin"), ArgumentError, "'cos' or 'linear'"),
    (
        lambda: lr.OneCycleLR(1.0, 10, phase_pct=0.5, three_phase=True),
        ArgumentError,
        "phase_pct must be less than 0.5",
    ),
    (lambda: rates(lr.OneCycleLR(1.0, 10), 12), ArgumentError, "step 11 of 10; make it with a"),
    (lambda: lr.CyclicLR(0.1, 1.0, 5.0), TypeError, "step_size_up must be an int"),
    (lambda: lr.CyclicLR(0.1, 1.0, 5, 0), ArgumentError, "step_size_down must be a positive"),
    (lambda: lr.CyclicLR(0.1, 1.0, 5, mode="square"), ArgumentError, "mode must be 'triangular'"),
    (lambda: lr.CyclicLR(0.1, 1.0, 5, scale_fn=2.0), TypeError, "scale_fn must be a function"),
    (lambda: lr.CyclicLR(0.1, 1.0, 5, scale_mode="x"), ArgumentError, "'cycle' or 'iterations'"),
]


@pytest.mark.parametrize(("call", "error", "hint"), BAD)
def test_bad_arguments(call: Callable[[], Any], error: type[Exception], hint: str) -> None:
    with pytest.raises(error, match=hint):
        call()
