"""What other libraries ask of an array: NumPy's protocols, the Array API, DLPack, copies."""
