"""The steps as one writes them in NumPy by hand, gradients included.

Each function takes the parameters and the feeds, and returns the loss and the gradients by name.
Buffers are not planned and nothing is fused: this is NumPy as it is usually written with care.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.lib.stride_tricks import sliding_window_view

from .candidates import Candidate, Maker
from .hand_optimizers import optimizer
from .workloads import Arrays, Workload, data

__all__ = ["makers", "subtract_rows"]

Found = tuple[Any, dict[str, Any]]
f32 = np.float32


def mlp(p: Arrays, x: Any, y: Any) -> Found:
    h = np.maximum(x @ p["w1"] + p["b1"], 0)
    d = h @ p["w2"] + p["b2"] - y
    loss = np.mean(d * d)
    d *= f32(2 / len(x))
    dz = (d @ p["w2"].T) * (h > 0)
    return loss, {"w2": h.T @ d, "b2": d.sum(0), "w1": x.T @ dz, "b1": dz.sum(0)}


def _classifier(p: Arrays, x: Any, y: Any) -> tuple[Any, dict[str, Any], Any]:
    """Loss, gradients, and the gradient before the first layer's weights."""
    rows = np.arange(len(y))
    h1 = np.maximum(x @ p["w1"] + p["b1"], 0)
    h2 = np.maximum(h1 @ p["w2"] + p["b2"], 0)
    z = h2 @ p["w3"] + p["b3"]
    z -= z.max(1, keepdims=True)
    d = np.exp(z)
    total = d.sum(1, keepdims=True)
    loss = np.mean(np.log(total[:, 0]) - z[rows, y])
    d /= total
    d[rows, y] -= 1
    d *= f32(1 / len(y))
    grads = {"w3": h2.T @ d, "b3": d.sum(0)}
    d = (d @ p["w3"].T) * (h2 > 0)
    grads |= {"w2": h1.T @ d, "b2": d.sum(0)}
    d = (d @ p["w2"].T) * (h1 > 0)
    grads |= {"w1": x.T @ d, "b1": d.sum(0)}
    return loss, grads, d


def mnist(p: Arrays, x: Any, y: Any) -> Found:
    return _classifier(p, x, y)[:2]


def _windows(x: Any, size: int) -> Any:
    """The windows of each image as columns, ``[n, c * size * size, places]``."""
    view = sliding_window_view(x, (size, size), (2, 3)).transpose(0, 1, 4, 5, 2, 3)
    n, c, _, _, rows, columns = view.shape
    return view.reshape(n, c * size * size, rows * columns)


def _conv(x: Any, k: Any) -> tuple[Any, Any]:
    """The convolution without padding, and the windows that its gradient needs."""
    size = k.shape[2]
    windows = _windows(x, size)
    out = k.reshape(len(k), -1) @ windows
    return out.reshape(len(x), len(k), x.shape[2] - size + 1, -1), windows


def _filter_gradient(d: Any, windows: Any, k: Any) -> Any:
    flat = d.reshape(len(d), len(k), -1)
    return (flat @ windows.transpose(0, 2, 1)).sum(0).reshape(k.shape)


def _image_gradient(d: Any, k: Any, shape: Any) -> Any:
    """Each window's gradient, added where it was read."""
    n, c = shape[:2]
    size, rows, columns = k.shape[2], d.shape[2], d.shape[3]
    each = k.reshape(len(k), -1).T @ d.reshape(n, len(k), -1)
    each = each.reshape(n, c, size, size, rows, columns)
    out = np.zeros(shape, d.dtype)
    for i in range(size):
        for j in range(size):
            out[:, :, i : i + rows, j : j + columns] += each[:, :, i, j]
    return out


def _pool(x: Any) -> tuple[Any, Any]:
    """The greatest of each 2 x 2, and which of the four it is."""
    n, c, h, w = x.shape
    four = x.reshape(n, c, h // 2, 2, w // 2, 2).transpose(0, 1, 2, 4, 3, 5)
    four = four.reshape(n, c, h // 2, w // 2, 4)
    return four.max(-1), four.argmax(-1)[..., None]


def _pool_gradient(d: Any, place: Any) -> Any:
    n, c, h, w = d.shape
    four = np.zeros((*d.shape, 4), d.dtype)
    np.put_along_axis(four, place, d[..., None], -1)
    four = four.reshape(n, c, h, w, 2, 2).transpose(0, 1, 2, 4, 3, 5)
    return four.reshape(n, c, 2 * h, 2 * w)


def lenet(p: Arrays, x: Any, y: Any) -> Found:
    a, windows1 = _conv(x, p["k1"])
    h1, place1 = _pool(np.maximum(a + p["c1"][:, None, None], 0))
    b, windows2 = _conv(h1, p["k2"])
    h2, place2 = _pool(np.maximum(b + p["c2"][:, None, None], 0))
    loss, grads, d = _classifier(p, h2.reshape(len(x), -1), y)
    d = (d @ p["w1"].T).reshape(h2.shape) * (h2 > 0)
    d = _pool_gradient(d, place2)
    grads |= {"k2": _filter_gradient(d, windows2, p["k2"]), "c2": d.sum((0, 2, 3))}
    d = _image_gradient(d, p["k2"], h1.shape) * (h1 > 0)
    d = _pool_gradient(d, place1)
    grads |= {"k1": _filter_gradient(d, windows1, p["k1"]), "c1": d.sum((0, 2, 3))}
    return loss, grads


def _layer_norm(x: Any, gain: Any, shift: Any) -> tuple[Any, Any, Any]:
    z = x - x.mean(1, keepdims=True)
    scale = 1 / np.sqrt(np.mean(z * z, 1, keepdims=True) + f32(1e-5))
    z *= scale
    return z * gain + shift, z, scale


def _layer_norm_gradient(d: Any, z: Any, scale: Any, gain: Any) -> tuple[Any, Any, Any]:
    dz = d * gain
    dx = dz - dz.mean(1, keepdims=True) - z * np.mean(dz * z, 1, keepdims=True)
    return dx * scale, (d * z).sum(0), d.sum(0)


_C = f32(math.sqrt(2 / math.pi))
_K = f32(0.044715)


def transformer(p: Arrays, x: Any, y: Any) -> Found:
    rows, d = x.shape[0] * x.shape[1], x.shape[2]
    x, y = x.reshape(rows, d), y.reshape(rows, d)
    n1, z1, _ = _layer_norm(x, p["g1"], p["e1"])
    qkv = (n1 @ p["wqkv"] + p["bqkv"]).reshape(8, 128, 3, 4, 64).transpose(2, 0, 3, 1, 4)
    q, k, v = qkv
    a = q @ k.swapaxes(-1, -2) * f32(0.125)
    np.exp(a - a.max(-1, keepdims=True), out=a)
    a /= a.sum(-1, keepdims=True)
    o = (a @ v).swapaxes(1, 2).reshape(rows, d)
    x1 = x + (o @ p["wo"] + p["bo"])
    n2, z2, s2 = _layer_norm(x1, p["g2"], p["e2"])
    h = n2 @ p["w1"] + p["b1"]
    t = np.tanh(_C * (h + _K * h * h * h))
    u = f32(0.5) * h * (1 + t)
    e = x1 + (u @ p["w2"] + p["b2"]) - y
    loss = np.mean(e * e)

    e *= f32(2 / e.size)
    grads = {"w2": u.T @ e, "b2": e.sum(0)}
    du = e @ p["w2"].T
    slope = f32(0.5) * (1 + t) + f32(0.5) * h * (1 - t * t) * _C * (1 + 3 * _K * h * h)
    dh = du * slope
    grads |= {"w1": n2.T @ dh, "b1": dh.sum(0)}
    dx, grads["g2"], grads["e2"] = _layer_norm_gradient(dh @ p["w1"].T, z2, s2, p["g2"])
    dx += e
    grads |= {"wo": o.T @ dx, "bo": dx.sum(0)}
    do = (dx @ p["wo"].T).reshape(8, 128, 4, 64).swapaxes(1, 2)
    da = do @ v.swapaxes(-1, -2)
    ds = a * (da - (da * a).sum(-1, keepdims=True)) * f32(0.125)
    dqkv = np.empty((8, 128, 3, 4, 64), f32)
    into = dqkv.transpose(2, 0, 3, 1, 4)
    np.matmul(ds, k, out=into[0])
    np.matmul(ds.swapaxes(-1, -2), q, out=into[1])
    np.matmul(a.swapaxes(-1, -2), do, out=into[2])
    dqkv = dqkv.reshape(rows, 3 * d)
    grads |= {"wqkv": n1.T @ dqkv, "bqkv": dqkv.sum(0)}
    dn = dqkv @ p["wqkv"].T
    grads["g1"], grads["e1"] = (dn * z1).sum(0), dn.sum(0)
    return loss, grads


def options(p: Arrays, spot: Any, strike: Any, time: Any, price: Any) -> Found:
    sigma, half = p["sigma"], f32(0.5)
    root = np.sqrt(time)
    width = sigma * root
    d1 = (np.log(spot / strike) + (f32(0.03) + half * sigma * sigma) * time) / width
    d2 = d1 - width
    t1 = np.tanh(_C * (d1 + _K * d1 * d1 * d1))
    t2 = np.tanh(_C * (d2 + _K * d2 * d2 * d2))
    present = strike * np.exp(f32(-0.03) * time)
    error = half * (spot * (1 + t1) - present * (1 + t2)) - price
    loss = np.mean(error * error)
    g = error * f32(2 / error.size)
    p1 = spot * (half * _C) * (1 - t1 * t1) * (1 + 3 * _K * d1 * d1)
    p2 = present * (half * _C) * (1 - t2 * t2) * (1 + 3 * _K * d2 * d2)
    by_sigma = root - d1 / sigma  # of d1; that of d2 is smaller by root
    return loss, {"sigma": g * ((p1 - p2) * by_sigma + p2 * root)}


def logistic(p: Arrays, x: Any, y: Any) -> Found:
    z = x @ p["w"] + p["b"]
    loss = np.mean(np.maximum(z, 0) + np.log1p(np.exp(-np.abs(z))) - z * y)
    d = (1 / (1 + np.exp(-z)) - y) * f32(1 / len(y))
    return loss, {"w": d @ x, "b": d.sum()}


def _sigmoid(x: Any) -> Any:
    return f32(0.5) * np.tanh(f32(0.5) * x) + f32(0.5)


def lstm(p: Arrays, x: Any, y: Any) -> Found:
    times, rows, size = x.shape
    n, wh = len(p["wh"]), p["wh"]
    flat = x.reshape(times * rows, size)
    z = (flat @ p["wx"] + p["b"]).reshape(times, rows, 4 * n)
    hs, cs = np.zeros((2, times + 1, rows, n), f32)
    kept = []
    for t in range(times):
        gates = z[t] + hs[t] @ wh
        s, g = _sigmoid(gates[:, : 3 * n]), np.tanh(gates[:, 3 * n :])
        np.add(s[:, n : 2 * n] * cs[t], s[:, :n] * g, out=cs[t + 1])
        tc = np.tanh(cs[t + 1])
        np.multiply(s[:, 2 * n :], tc, out=hs[t + 1])
        kept.append((s[:, :n], s[:, n : 2 * n], s[:, 2 * n :], g, tc))
    e = hs[-1] @ p["wo"] - y
    loss = np.mean(e * e)
    e *= f32(2 / rows)
    dh, dc = e @ p["wo"].T, np.zeros((rows, n), f32)
    dz, back = np.empty_like(z), np.ascontiguousarray(wh.T)
    for t in reversed(range(times)):
        i, f, o, g, tc = kept[t]
        dc = dc + dh * o * (1 - tc * tc)
        dz[t, :, :n] = dc * g * i * (1 - i)
        dz[t, :, n : 2 * n] = dc * cs[t] * f * (1 - f)
        dz[t, :, 2 * n : 3 * n] = dh * tc * o * (1 - o)
        dz[t, :, 3 * n :] = dc * i * (1 - g * g)
        dc, dh = dc * f, dz[t] @ back
    dz = dz.reshape(times * rows, 4 * n)
    before = hs[:-1].reshape(times * rows, n)
    grads = {"wh": before.T @ dz, "wx": flat.T @ dz, "b": dz.sum(0), "wo": hs[-1].T @ e}
    return loss, grads


def _logsumexp(x: Any) -> tuple[Any, Any]:
    """Over the last axis, and its gradient."""
    top = x.max(-1, keepdims=True)
    e = np.exp(x - top)
    total = e.sum(-1, keepdims=True)
    e /= total
    return (np.log(total) + top)[..., 0], e


def mixture(p: Arrays, x: Any, below: Any, unit: Any) -> Found:
    parts, size = p["mean"].shape
    scale = np.exp(p["diagonal"])
    root = p["lower"] * below + scale[:, :, None] * unit
    shift = (root @ p["mean"][:, :, None])[:, :, 0]
    z = x @ root.reshape(parts * size, size).T
    z -= shift.reshape(-1)
    z3 = z.reshape(-1, parts, size)
    inner = p["weight"] + p["diagonal"].sum(1) - 0.5 * np.einsum("nkd,nkd->nk", z3, z3)
    value, share = _logsumexp(inner)
    total, prior = _logsumexp(p["weight"])
    loss = total - value.mean()

    share *= -1 / len(x)
    z3 *= -share[:, :, None]
    d_inner = share.sum(0)
    d_shift = -z3.sum(0)
    d_root = (z.T @ x).reshape(parts, size, size)
    d_root += d_shift[:, :, None] * p["mean"][:, None, :]
    diagonal = np.einsum("kii->ki", d_root) * scale + d_inner[:, None]
    mean = (d_shift[:, None, :] @ root)[:, 0]
    grads = {"weight": prior + d_inner, "mean": mean, "diagonal": diagonal}
    return loss, {**grads, "lower": d_root * below}


def ode(p: Arrays, prey: Any, hunter: Any, prey_end: Any, hunter_end: Any) -> Found:
    a, b, c, d = (float(p[k]) for k in "abcd")
    times, h = 200, 0.05
    xs, ys, us, vs = np.empty((4, times, 4, len(prey)))  # where slopes are taken, and adjoints
    x, y = prey, hunter
    for t in range(times):
        kx, ky, factor = 0.0, 0.0, 0.0
        sum_x, sum_y = 0.0, 0.0
        for s, (factor, weight) in enumerate(((0.0, 1.0), (h / 2, 2.0), (h / 2, 2.0), (h, 1.0))):
            px = np.add(x, factor * kx, out=xs[t, s])
            py = np.add(y, factor * ky, out=ys[t, s])
            kx, ky = px * (a - b * py), py * (d * px - c)
            sum_x, sum_y = sum_x + weight * kx, sum_y + weight * ky
        x, y = x + h / 6 * sum_x, y + h / 6 * sum_y
    ex, ey = x - prey_end, y - hunter_end
    loss = np.mean(ex * ex + ey * ey)

    by_x, by_y = a - b * ys, d * xs - c
    into_x, into_y = d * ys, b * xs
    gx, gy = ex * (2 / len(ex)), ey * (2 / len(ey))
    for t in reversed(range(times)):
        dx, dy, ax, ay = gx, gy, 0.0, 0.0
        for s, (part, factor) in reversed(
            list(enumerate(((h / 6, h / 2), (h / 3, h / 2), (h / 3, h), (h / 6, 0.0))))
        ):
            u = np.add(part * dx, factor * ax, out=us[t, s])
            v = np.add(part * dy, factor * ay, out=vs[t, s])
            ax = u * by_x[t, s] + v * into_x[t, s]
            ay = v * by_y[t, s] - u * into_y[t, s]
            gx, gy = gx + ax, gy + ay
    us *= xs
    vs *= ys
    grads = {"a": us.sum(), "b": -np.vdot(us, ys), "c": -vs.sum(), "d": np.vdot(vs, xs)}
    return loss, grads


def scalar(p: Arrays, x: Any, y: Any, target: Any) -> Found:
    """In numbers of Python, which are faster than NumPy's here."""
    a, b, c, d = (float(p[k]) for k in "abcd")
    x, y, target = float(x), float(y), float(target)
    kept = []
    for _ in range(100):
        u, s = math.tanh(a * x + b * y), math.sin(x)
        kept.append((x, y, u, s))
        y = c * y + d * s
        x = u + 0.5 * y
    e = x - target
    gx, gy, ga, gb, gc, gd = 2 * e, 0.0, 0.0, 0.0, 0.0, 0.0
    for x, y, u, s in reversed(kept):
        gy += 0.5 * gx
        g = gx * (1 - u * u)
        ga, gb, gc, gd = ga + g * x, gb + g * y, gc + gy * y, gd + gy * s
        gx, gy = g * a + gy * d * math.cos(x), g * b + gy * c
    return e * e, {"a": ga, "b": gb, "c": gc, "d": gd}


def resnet(p: Arrays, x: Any, y: Any) -> Found:
    size = x.size // x.shape[1]

    def padded(x: Any) -> Any:
        return np.pad(x, ((0, 0), (0, 0), (1, 1), (1, 1)))

    def norm(x: Any, i: int) -> tuple[Any, Any, Any]:
        z = x - x.mean((0, 2, 3), keepdims=True)
        flat = z.transpose(1, 0, 2, 3)
        var = np.einsum("cnhw,cnhw->c", flat, flat) / f32(size)
        scale = (1 / np.sqrt(var + f32(1e-5)))[:, None, None]
        z *= scale
        return z * p[f"g{i}"][:, None, None] + p[f"e{i}"][:, None, None], z, scale

    def norm_gradient(d: Any, z: Any, scale: Any, i: int) -> Any:
        gain, shift = np.einsum("nchw,nchw->c", d, z), d.sum((0, 2, 3))
        grads[f"g{i}"], grads[f"e{i}"] = gain, shift
        n = f32(1 / size)
        dz = d - (shift * n)[:, None, None] - z * (gain * n)[:, None, None]
        dz *= p[f"g{i}"][:, None, None] * scale
        return dz

    grads: dict[str, Any] = {}
    a, windows1 = _conv(padded(x), p["k1"])
    n1, z1, s1 = norm(a, 1)
    h = padded(np.maximum(n1, 0))
    b, windows2 = _conv(h, p["k2"])
    n2, z2, s2 = norm(b, 2)
    out = np.maximum(n2 + x, 0)
    e = out - y
    loss = np.mean(e * e)
    e *= f32(2 / e.size)
    d = norm_gradient(e * (out > 0), z2, s2, 2)
    grads["k2"] = _filter_gradient(d, windows2, p["k2"])
    d = _image_gradient(d, p["k2"], h.shape)[:, :, 1:-1, 1:-1] * (n1 > 0)
    d = norm_gradient(d, z1, s1, 1)
    grads["k1"] = _filter_gradient(d, windows1, p["k1"])
    return loss, grads


def whole(w: Workload) -> Candidate:
    feeds, params = data(w)
    update, gradient = optimizer(w, params), globals()[w.name]
    arrays = list(feeds.values())

    def step() -> Any:
        value, grads = gradient(params, *arrays)
        update(grads)
        return value

    return Candidate(step)


def subtract_rows(table: Any, index: Any, change: Any) -> None:
    """``table[index] -= change`` for repeated rows too; `subtract.at` is fast in one dimension."""
    width = table.shape[1]
    places = index.reshape(-1, 1) * width + np.arange(width)
    np.subtract.at(table.reshape(-1), places.reshape(-1), change.reshape(-1))


def word2vec(w: Workload) -> Candidate:
    """Gradients of the rows that were read, taken from where they came."""
    feeds, params = data(w)
    inner, outer = params["inner"], params["outer"]
    center, context, negative = feeds.values()
    rate = f32(w.rate / len(center))

    def step() -> Any:
        u = inner[center]
        others = np.concatenate([context[:, None], negative], axis=1)
        v = outer[others]
        z = (v @ u[:, :, None])[:, :, 0]
        z[:, 0] *= -1  # each term is softplus(z)
        loss = np.sum(np.maximum(z, 0) + np.log1p(np.exp(-np.abs(z)))) / len(u)
        d = rate / (1 + np.exp(-z))
        d[:, 0] *= -1
        du, dv = (d[:, None, :] @ v)[:, 0], d[:, :, None] * u[:, None, :]
        subtract_rows(inner, center, du)
        subtract_rows(outer, others, dv)
        return loss

    return Candidate(step)


def makers(w: Workload, cores: int) -> dict[str, Maker]:
    """The candidates of this library for one workload, by name."""
    return {"by hand": lambda: word2vec(w) if w.name == "word2vec" else whole(w)}
