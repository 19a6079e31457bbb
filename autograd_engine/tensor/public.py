"""All public functions of this package in one place: what the engine exports at its top."""

from typing import TYPE_CHECKING

from autograd_engine.tensor.arithmetic.complex import *  # noqa: F403
from autograd_engine.tensor.arithmetic.elementary import *  # noqa: F403
from autograd_engine.tensor.arithmetic.logic import *  # noqa: F403
from autograd_engine.tensor.arithmetic.math import *  # noqa: F403
from autograd_engine.tensor.arithmetic.rounding import *  # noqa: F403
from autograd_engine.tensor.arithmetic.scan import *  # noqa: F403
from autograd_engine.tensor.arithmetic.special import *  # noqa: F403
from autograd_engine.tensor.arithmetic.trigonometry import *  # noqa: F403
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
from autograd_engine.tensor.shape.sizes import *  # noqa: F403
from autograd_engine.tensor.shape.splitting import *  # noqa: F403

# Type checkers read no sums of lists: to them, what is imported here is what is exported.
if TYPE_CHECKING:
    from autograd_engine.tensor.declared import *  # noqa: F403
else:
    from autograd_engine.tensor import inplace
    from autograd_engine.tensor.arithmetic import (
        complex as complex_values,
    )
    from autograd_engine.tensor.arithmetic import (
        elementary as exponential,
    )
    from autograd_engine.tensor.arithmetic import (
        logic,
        math,
        rounding,
        scan,
        special,
        trigonometry,
    )
    from autograd_engine.tensor.creation import creation, random
    from autograd_engine.tensor.indexing import indexing, put_along
    from autograd_engine.tensor.indexing import scatter as writing
    from autograd_engine.tensor.linalg import contractions as products
    from autograd_engine.tensor.linalg import norms
    from autograd_engine.tensor.linalg import products as linalg
    from autograd_engine.tensor.reduction import (
        histogram as counting,
    )
    from autograd_engine.tensor.reduction import (
        quantiles,
        reduction,
        search,
        statistics,
    )
    from autograd_engine.tensor.reduction import (
        sums as summation,
    )
    from autograd_engine.tensor.shape import (
        attribute,
        broadcasting,
        combining,
        diagonals,
        joining,
        manipulation,
        movement,
        sizes,
        splitting,
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
