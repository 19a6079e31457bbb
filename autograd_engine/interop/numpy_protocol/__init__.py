"""What other libraries ask of an array: NumPy's protocols, DLPack, pickling, iteration.

Tensor and Variable have the methods; the tables behind them are imported when one is first used.
"""
