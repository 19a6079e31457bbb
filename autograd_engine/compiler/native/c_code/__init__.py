"""Pieces of C text that whoever writes some begins with."""
