"""The numbers of recorded operations: each is smaller than all before it, in whichever thread."""

from __future__ import annotations

import itertools

__all__ = ["newer"]

newer = itertools.count(0, -1).__next__
