"""All public functions of this package in one place: what the engine exports at its top."""

from typing import TYPE_CHECKING

from autograd_engine.tensor.attribute import *  # noqa: F403
from autograd_engine.tensor.broadcasting import *  # noqa: F403
from autograd_engine.tensor.combining import *  # noqa: F403
from autograd_engine.tensor.complex_values import *  # noqa: F403
from autograd_engine.tensor.counting import *  # noqa: F403
from autograd_engine.tensor.creation import *  # noqa: F403
from autograd_engine.tensor.diagonals import *  # noqa: F403
from autograd_engine.tensor.exponential import *  # noqa: F403
from autograd_engine.tensor.indexing import *  # noqa: F403
from autograd_engine.tensor.joining import *  # noqa: F403
from autograd_engine.tensor.linalg import *  # noqa: F403
from autograd_engine.tensor.logic import *  # noqa: F403
from autograd_engine.tensor.manipulation import *  # noqa: F403
from autograd_engine.tensor.math import *  # noqa: F403
from autograd_engine.tensor.movement import *  # noqa: F403
from autograd_engine.tensor.norms import *  # noqa: F403
from autograd_engine.tensor.products import *  # noqa: F403
from autograd_engine.tensor.put_along import *  # noqa: F403
from autograd_engine.tensor.quantiles import *  # noqa: F403
from autograd_engine.tensor.random import *  # noqa: F403
from autograd_engine.tensor.reduction import *  # noqa: F403
from autograd_engine.tensor.rounding import *  # noqa: F403
from autograd_engine.tensor.scan import *  # noqa: F403
from autograd_engine.tensor.search import *  # noqa: F403
from autograd_engine.tensor.sizes import *  # noqa: F403
from autograd_engine.tensor.special import *  # noqa: F403
from autograd_engine.tensor.splitting import *  # noqa: F403
from autograd_engine.tensor.statistics import *  # noqa: F403
from autograd_engine.tensor.summation import *  # noqa: F403
from autograd_engine.tensor.trigonometry import *  # noqa: F403
from autograd_engine.tensor.writing import *  # noqa: F403

# Type checkers read no sums of lists: to them, what is imported here is what is exported.
if TYPE_CHECKING:
    from autograd_engine.tensor.declared import *  # noqa: F403
else:
    from autograd_engine.tensor import (
        attribute,
        broadcasting,
        combining,
        complex_values,
        counting,
        creation,
        diagonals,
        exponential,
        indexing,
        inplace,
        joining,
        linalg,
        logic,
        manipulation,
        math,
        movement,
        norms,
        products,
        put_along,
        quantiles,
        random,
        reduction,
        rounding,
        scan,
        search,
        sizes,
        special,
        splitting,
        statistics,
        summation,
        trigonometry,
        writing,
    )

    __all__: list[str] = []
    __all__ += complex_values.__all__
    __all__ += counting.__all__
    __all__ += attribute.__all__
    __all__ += creation.__all__
    __all__ += summation.__all__
    __all__ += exponential.__all__
    __all__ += indexing.__all__
    __all__ += linalg.__all__
    __all__ += logic.__all__
    __all__ += broadcasting.__all__
    __all__ += combining.__all__
    __all__ += diagonals.__all__
    __all__ += joining.__all__
    __all__ += movement.__all__
    __all__ += sizes.__all__
    __all__ += splitting.__all__
    __all__ += manipulation.__all__
    __all__ += math.__all__
    __all__ += norms.__all__
    __all__ += products.__all__
    __all__ += put_along.__all__
    __all__ += quantiles.__all__
    __all__ += random.__all__
    __all__ += reduction.__all__
    __all__ += rounding.__all__
    __all__ += scan.__all__
    __all__ += writing.__all__
    __all__ += search.__all__
    __all__ += special.__all__
    __all__ += trigonometry.__all__
    __all__ += statistics.__all__

    _IN_PLACE = inplace.functions(globals())
    globals().update(_IN_PLACE)
    __all__ += _IN_PLACE
