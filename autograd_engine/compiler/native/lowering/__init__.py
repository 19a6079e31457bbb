"""From operations to loops: kernels run on stand-ins that write down what they compute.

The families are those of `ops`; here alone an operation is known by its name.
"""
