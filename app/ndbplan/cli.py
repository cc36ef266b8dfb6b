"""The command line: the same work as the window, without one."""

from __future__ import annotations


def main() -> None:
    """Entry point of `ndbplan`."""
    import click

    click.echo("ndbplan", err=True)
