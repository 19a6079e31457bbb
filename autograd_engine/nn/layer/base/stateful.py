"""The part of a layer that is saved, and loaded again."""

from __future__ import annotations

from typing import Any

from autograd_engine.core.checks import require_bools
from autograd_engine.nn.layer.base import state_dict as state
from autograd_engine.nn.layer.base.registered import Registered

__all__ = ["Stateful"]


class Stateful(Registered):
    """Parameters and buffers, inner ones included, as one dict."""

    def state_dict(
        self,
        destination: dict[str, Any] | None = None,
        include_sublayers: bool = True,
        structured_name_prefix: str = "",
        use_hook: bool = True,
        keep_vars: bool = True,
    ) -> dict[str, Any]:
        """Parameters and buffers by name: what `paddle.save` takes.

        Parameters
        ----------
        destination : dict, optional
            Where to put them.
        include_sublayers : bool
        structured_name_prefix : str
            Put before each name.
        use_hook, keep_vars : bool
            Accepted for the reference's sake.

        Returns
        -------
        dict of str to Tensor
            The Tensors themselves: later training changes what they hold. Of the layer of a
            program the values in `static.global_scope()`, as arrays.

        Raises
        ------
        ModeError
            When the startup program of a layer of a program has not been run.

        Examples
        --------
        >>> import autograd_engine as paddle
        >>> list(paddle.nn.Linear(2, 3).state_dict())
        ['weight', 'bias']
        """
        found = {} if destination is None else destination
        for name, value in state.entries(self, structured_name_prefix, include_sublayers):
            found[name] = state.value_of(value)
        return found

    def set_state_dict(
        self, state_dict: Any, use_structured_name: bool = True, strict: bool = True
    ) -> tuple[list[str], list[str]]:
        """Take over values that `state_dict` returned.

        Parameters
        ----------
        state_dict : dict of str to Tensor or array
        use_structured_name : bool
            False: the keys are the names of the parameters (``linear_0.w_0``).
        strict : bool
            False: take what fits, and leave the rest as it is.

        Returns
        -------
        (list of str, list of str)
            Names that are missing, or do not fit, and names that the layer does not have. Both are
            empty if `strict`.

        Raises
        ------
        ArgumentError
            When something is missing, unknown or of another shape, unless `strict` is False. It
            lists all of that, and nothing has changed.
        TypeError

        Examples
        --------
        >>> import autograd_engine as paddle
        >>> a, b = paddle.nn.Linear(2, 3), paddle.nn.Linear(2, 3)
        >>> b.set_state_dict(a.state_dict())
        ([], [])
        >>> bool((a.weight == b.weight).all())
        True
        """
        require_bools("set_state_dict", use_structured_name=use_structured_name, strict=strict)
        return state.load(self, state_dict, use_structured_name, strict)

    set_dict = set_state_dict
    load_dict = set_state_dict
