"""Programs from programs: copies, and the form for inference."""
