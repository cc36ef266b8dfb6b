"""The command `partition`: the exact partition of every key."""

from __future__ import annotations

import sys
from pathlib import Path

import click

from ndbplan.base.errors import UserError
from ndbplan.cli.group import json_option, ndbplan, show
from ndbplan.cli.parameters import Numbers, UsageError, Whole, read_text


@ndbplan.command()
@click.option("--ddl", required=True, metavar="FILE_OR_SQL", help="CREATE TABLE, or a file that holds it.")
@click.option("--partitions", required=True, type=Whole(1, 8160), metavar="N", help="How many there are now.")
@click.option(
    "--grown", type=Numbers(), metavar="4,8", help="How many there were before, since the creation."
)
@click.option(
    "--version", "version_text", default="8.4", show_default=True, metavar="8.4", help="NDB version."
)
@click.option("--buckets", type=Whole(1, 65535), metavar="B", help="Size of the hash map at creation.")
@click.option("--table", metavar="T", help="Which table, when the SQL defines several.")
@json_option
@click.pass_context
def partition(
    ctx: click.Context,
    ddl: str,
    partitions: int,
    grown: tuple[int, ...] | None,
    version_text: str,
    buckets: int | None,
    table: str | None,
    *,
    as_json: bool,
) -> None:
    """Read keys as CSV from stdin and write them with hash, bucket and partition to stdout.

    The first row names the key columns. Text may be, binary values must be, 0x and hex digits. With --json:
    rows of each partition. Exit code 2: some keys could not be read; their answers are empty.
    """
    from ndbplan.importing.partition_keys import partition_job
    from ndbplan.ndb.keys.many.text import is_prepared
    from ndbplan.ndb.version import NdbVersion

    sql = ddl if "(" in ddl and not _is_file(ddl) else read_text(Path(ddl))
    try:
        version = NdbVersion.parse(version_text)
        job = partition_job(sql, partitions, version, grown or (), buckets, table)
        for note in job.notes:
            click.echo(f"ndbplan: --ddl: {' '.join(note.split())}", err=True)
        if job.unsupported is None and not is_prepared(job.columns):
            click.echo("preparing the key hash (only this first time) …", err=True)
        if sys.stdin.isatty():
            click.echo("reading keys from the terminal; Ctrl+D ends them", err=True)
        partitioned = job.run(sys.stdin.buffer, None if as_json else sys.stdout.buffer.write)
    except UserError as error:
        where = "--version" if error.where == "ndb_version" else error.where
        raise UsageError(error.what, where=where, fix=error.fix) from None
    if as_json:
        show(partitioned.to_json(), as_json=True)
    if partitioned.count.faulty:
        first = partitioned.count.problems[0] if partitioned.count.problems else ""
        rows = "1 row" if partitioned.count.faulty == 1 else f"{partitioned.count.faulty} rows"
        click.echo(f"ndbplan: stdin: {rows} could not be read; {first} — correct the keys", err=True)
        ctx.exit(2)


def _is_file(name: str) -> bool:
    try:
        return Path(name).is_file()
    except (OSError, ValueError):
        # Longer than a name may be, or with a NUL: SQL.
        return False
