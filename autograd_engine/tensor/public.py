"""All public functions of this package in one place: what the engine exports at its top."""

from typing import TYPE_CHECKING

from autograd_engine.tensor.arithmetic.complex import *  # noqa: F403
from autograd_engine.tensor.arithmetic.elementary import *  # noqa: F403
from autograd_engine.tensor.arithmetic.logic import *  # noqa: F403
from autograd_engine.tensor.arithmetic.math import *  # noqa: F403
from autograd_engine.tensor.arithmetic.rounding import *  # noqa: F403
from autograd_engine.tensor.arithmetic.scan import *  # noqa: F403
from autograd_engine.tensor.arithmetic.special import *  # noqa: F403
from autograd_engine.tensor.creation.creation import *  # noqa: F403
from autograd_engine.tensor.creation.random import *  # noqa: F403
from autograd_engine.tensor.indexing.indexing import *  # noqa: F403
from autograd_engine.tensor.indexing.put_along import *  # noqa: F403
from autograd_engine.tensor.indexing.scatter import *  # noqa: F403
from autograd_engine.tensor.linalg.contractions import *  # noqa: F403
from autograd_engine.tensor.linalg.norms import *  # noqa: F403
from autograd_engine.tensor.linalg.products import *  # noqa: F403
from autograd_engine.tensor.reduction.histogram import *  # noqa: F403
from autograd_engine.tensor.reduction.quantiles import *  # noqa: F403
from autograd_engine.tensor.reduction.reduction import *  # noqa: F403
from autograd_engine.tensor.reduction.search import *  # noqa: F403
from autograd_engine.tensor.reduction.statistics import *  # noqa: F403
from autograd_engine.tensor.reduction.sums import *  # noqa: F403
from autograd_engine.tensor.shape.attribute import *  # noqa: F403
from autograd_engine.tensor.shape.broadcasting import *  # noqa: F403
from autograd_engine.tensor.shape.combining import *  # noqa: F403
from autograd_engine.tensor.shape.diagonals import *  # noqa: F403
from autograd_engine.tensor.shape.joining import *  # noqa: F403
from autograd_engine.tensor.shape.manipulation import *  # noqa: F403
from autograd_engine.tensor.shape.movement import *  # noqa: F403
from autograd_engine.tensor.shape.splitting import *  # noqa: F403

# Type checkers read no sums of lists: to them, what is imported here is what is exported.
if TYPE_CHECKING:
    from autograd_engine.tensor.declared import *  # noqa: F403
else:
    from autograd_engine.tensor import inplace
    from autograd_engine.tensor.arithmetic import (
        complex,
        elementary,
        logic,
        math,
        rounding,
        scan,
        special,
    )
    from autograd_engine.tensor.creation import creation, random
    from autograd_engine.tensor.indexing import indexing, put_along, scatter
    from autograd_engine.tensor.linalg import contractions, norms, products
    from autograd_engine.tensor.reduction import (
        histogram,
        quantiles,
        reduction,
        search,
        statistics,
        sums,
    )
    from autograd_engine.tensor.shape import (
        attribute,
        broadcasting,
        combining,
        diagonals,
        joining,
        manipulation,
        movement,
        splitting,
    )

    _FAMILIES = (
        *(complex, elementary, logic, math, rounding, scan, special, creation, random),
        *(indexing, put_along, scatter, contractions, norms, products),
        *(histogram, quantiles, reduction, search, statistics, sums),
        *(attribute, broadcasting, combining, diagonals, joining, manipulation, movement),
        splitting,
    )
    __all__: list[str] = [name for family in _FAMILIES for name in family.__all__]
    # Some of them are called as their modules are.
    globals().update((name, getattr(f, name)) for f in _FAMILIES for name in f.__all__)

    _IN_PLACE = inplace.functions(globals())
    globals().update(_IN_PLACE)
    __all__ += _IN_PLACE
