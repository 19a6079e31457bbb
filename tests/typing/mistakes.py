"""Mistakes that a checker has to find: the lines that say so, and no others."""

import autograd_engine as paddle
from autograd_engine import Tensor, nn

x = paddle.to_tensor([1.0])
y: int = x + 1  # wrong: a Tensor
x.summ()  # wrong: no such method
paddle.no_such_function(x)  # wrong
x.sum(axs=0)  # wrong: no such argument


@paddle.no_grad()
def double(x: Tensor) -> Tensor:
    return x * 2


double("text", 3)  # wrong: a decorator keeps the signature


class Net(nn.Layer):
    def forward(self, x: Tensor, scale: float) -> Tensor:
        return x * scale


Net()(x, "text")  # wrong: a layer is called as its forward is


@paddle.jit.to_static
def triple(x: Tensor) -> Tensor:
    return x * 3


triple(x, x)  # wrong: so is what was traced
paddle.jit.to_static(Net()).forwards  # noqa: B018  # wrong: a layer stays one
