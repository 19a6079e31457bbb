"""Operations of the user's: `defop`, and what is checked of a kernel that is not ours."""
