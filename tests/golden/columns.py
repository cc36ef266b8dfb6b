"""What ndb_restore says of each kind of column in a backup held against each other kind in the cluster."""

from __future__ import annotations

from collections.abc import Iterator

from ndbplan.ndb.version import NdbVersion
from ndbplan.plan.tables import Column, Table
from ndbplan.train.host.compatible import DEMOTES, EXCLUDES, PROMOTES, look

_KINDS = (
    *(Column(name="c", type=kind) for kind in ("tinyint", "smallint", "mediumint", "int", "bigint")),
    Column(name="c", type="int", unsigned=True),
    Column(name="c", type="bigint", unsigned=True),
    Column(name="c", type="float"),
    Column(name="c", type="double"),
    Column(name="c", type="decimal"),
    Column(name="c", type="decimal", length=10, scale=2),
    Column(name="c", type="decimal", length=11, scale=2),
    Column(name="c", type="decimal", length=11, scale=1),
    Column(name="c", type="char", length=9),
    Column(name="c", type="varchar", length=9),
    Column(name="c", type="varchar", length=10),
    Column(name="c", type="binary", length=9),
    Column(name="c", type="varbinary", length=10),
    Column(name="c", type="tinytext"),
    Column(name="c", type="text"),
    Column(name="c", type="blob"),
    Column(name="c", type="bit", length=3),
    Column(name="c", type="bit", length=4),
    Column(name="c", type="date"),
    Column(name="c", type="datetime"),
    Column(name="c", type="datetime", length=3),
    Column(name="c", type="timestamp", length=3),
    Column(name="c", type="year"),
    Column(name="c", type="int", nullable=False),
    Column(name="c", type="int", default="5"),
    Column(name="c", type="int", auto_increment=True),
    Column(name="c", type="int", storage="disk"),
)
_KEY = Column(name="id", type="int", nullable=False)
_OTHER = Column(name="more", type="int", nullable=False)
_STATED = Column(name="more", type="int", nullable=False, default="1")
_VERSION = NdbVersion.parse("8.4.8")


def answers() -> Iterator[str]:
    """Each pair: whether it fits, or with which options; by number what is said, which stands at the end."""
    said: dict[str, int] = {}
    for old in _KINDS:
        for new in _KINDS:
            if old is not new:
                told = look(_table(old), _table(new), frozenset(), _VERSION)
                fits = [flag for flag in (PROMOTES, DEMOTES) if _fits(old, new, flag)]
                lines = " ".join(str(said.setdefault(line, len(said) + 1)) for line in told.lines)
                yield f"{_said(old)} into {_said(new)}: {'fits' if told.fits else fits or 'never'} {lines}"
    yield from (f"{number}: {line}" for line, number in said.items())
    wide, named = _table(_KEY, _OTHER), _table(_KEY, _STATED)
    both, other = _table(_KEY, _OTHER, key=("id", "more")), _table(_KEY, _OTHER, key=("more",))
    for title, saved, now in (
        ("no table", wide, None),
        ("a column less", wide, _table(_KEY)),
        ("a column more", _table(_KEY), wide),
        ("a column with a default more", _table(_KEY), named),
        ("a key column more", wide, both),
        ("a key column less", both, wide),
        ("another key", wide, other),
        ("the same", wide, wide),
    ):
        for flags in (frozenset[str](), frozenset({EXCLUDES})):
            told = look(saved, now, flags, _VERSION)
            yield f"{title} {' '.join(flags)}: {'fits' if told.fits else 'does not fit'}"
            yield from (f"    {line}" for line in told.lines)


def _fits(old: Column, new: Column, flag: str) -> bool:
    return look(_table(old), _table(new), frozenset({flag}), _VERSION).fits


def _table(*columns: Column, key: tuple[str, ...] = ("id",)) -> Table:
    own = columns if _KEY in columns else (_KEY, *columns)
    return Table(id="t", database="test", name="t", columns=own, primary_key=key)


def _said(column: Column) -> str:
    stated = column.model_dump(exclude_defaults=True, exclude={"name", "type"})
    return " ".join((column.type, *(f"{name}={value}" for name, value in stated.items())))
