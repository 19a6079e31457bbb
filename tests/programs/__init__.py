"""Libraries written for Paddle, the real packages, with ``import paddle`` being this engine.

They are those of the extra ``programs``; a test of one that is not installed is skipped.
"""
