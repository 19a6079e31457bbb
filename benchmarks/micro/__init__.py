"""One thing at a time: an operation, a pass, a layer, a loader; each beside what does the same."""
