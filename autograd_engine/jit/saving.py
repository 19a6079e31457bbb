"""later"""

TranslatedLayer = load = save = None
