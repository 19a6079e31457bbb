"""Kernels run on stand-ins that write down, as steps, what they compute."""
