"""Public functions: element by element, and scans."""
