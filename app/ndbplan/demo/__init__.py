"""Demos: a plan shown scene by scene, in the window, at a terminal and as a file of its own."""
