"""What mouse and keyboard do on the canvas."""
