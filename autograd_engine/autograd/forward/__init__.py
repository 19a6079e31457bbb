"""Forward mode: tangents derived from the gradient rules, `jvp`, and recordings pushed along."""
