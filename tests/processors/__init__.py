"""What must hold on every processor, run as if on other ones: see `environments`."""
