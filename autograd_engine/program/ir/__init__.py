"""What a program is made of: `Program`, `Block`, `Operator`, `Variable`."""
