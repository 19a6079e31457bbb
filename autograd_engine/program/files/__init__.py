"""Programs and their values as files: JSON and npz, checked when read, never run."""
