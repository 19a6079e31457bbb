"""For pytest: ``import paddle`` is this engine in what it runs."""

import autograd_engine

autograd_engine.install_as_paddle(replace=True)
