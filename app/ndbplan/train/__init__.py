"""Training: a simulated cluster that answers as the product does, at its consoles and in its logs."""
