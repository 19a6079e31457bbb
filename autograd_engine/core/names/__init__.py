"""Names and keywords that other libraries have: what they are here, or what to write instead."""
