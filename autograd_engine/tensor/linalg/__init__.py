"""Public functions of linear algebra."""
