"""The tests, by room. What a BLAS is told when it is loaded is told here, before NumPy loads it."""

import os

# The workers of a run share the processors. Threads of a BLAS would spin while they wait for more
# to do, and take from the other workers what a large product gains.
if workers := os.environ.get("PYTEST_XDIST_WORKER_COUNT"):
    share = max((os.cpu_count() or 1) // int(workers), 1)
    os.environ.setdefault("OPENBLAS_NUM_THREADS", str(share))
