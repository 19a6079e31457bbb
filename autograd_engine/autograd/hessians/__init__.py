"""hessians."""
