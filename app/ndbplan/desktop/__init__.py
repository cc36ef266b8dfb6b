"""The window: document, canvas, inspector, analyses. The only layer that knows Qt."""
