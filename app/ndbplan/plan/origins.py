"""Who set a configuration parameter that a plan states: the program, an imported file, or a person by hand.

A stated parameter without an origin was set by hand, so plans of before there were origins need no other
reading, and what a person sets is never anything else. One that is not stated has the product's default.
"""

from __future__ import annotations

from pathlib import PurePath
from typing import Annotated, Any, Literal

from pydantic import AfterValidator, Field, SerializerFunctionWrapHandler, model_serializer

from ndbplan.base.frozen import FrozenMap
from ndbplan.plan.fields import ParameterName, ParameterValue, Part, no_control

_FILE_NAME_LENGTH = 255
_FileName = Annotated[str, Field(min_length=1, max_length=_FILE_NAME_LENGTH), AfterValidator(no_control)]
_Reason = Annotated[str, Field(min_length=1, max_length=500), AfterValidator(no_control)]


def file_name(path: str) -> str:
    """What a file is called, without its folders, as an origin can hold it."""
    shown = "".join(letter if letter.isprintable() else "?" for letter in PurePath(path).name)
    return shown[-_FILE_NAME_LENGTH:] or "file"


class _SetBy(Part):
    @model_serializer(mode="wrap")
    def _who_first(self, handler: SerializerFunctionWrapHandler) -> dict[str, Any]:
        # Which member of the union it is must be in the file, default or not.
        who: Any = self
        return {"by": who.by, **handler(self)}


class SetByImport(_SetBy):
    """A value that was read from a file."""

    by: Literal["import"] = "import"
    file: _FileName
    line: int = Field(ge=1, le=10**9)

    @property
    def words(self) -> str:
        """Who set it, for people."""
        return f"imported: {self.file}, line {self.line}"


class SetByProgram(_SetBy):
    """A value that the program decided on, and what stood there before."""

    by: Literal["program"] = "program"
    rule: Annotated[str, Field(pattern=r"^[a-z0-9][a-z0-9-]{0,62}$")]
    """What decided: a rule by the name that `ndbplan check` prints, or `remedies`."""
    reason: _Reason
    instead: ParameterValue | None = None
    """What was stated before, for the rule to decide again from there; None: nothing."""
    imported: SetByImport | None = None
    """Where that came from, when it was imported; None: it was set by hand, or not stated."""

    @property
    def words(self) -> str:
        """Who set it, for people."""
        return f"set by the program, rule {self.rule}: {self.reason}"


Origin = Annotated[SetByProgram | SetByImport, Field(discriminator="by")]
Origins = FrozenMap[ParameterName, Origin]
"""By the name of the parameter as the plan spells it."""

NO_ORIGINS: Origins = FrozenMap()


class ClusterOrigins(Part):
    """The same for parameters of all nodes of a kind; fields as of `ClusterParameters`."""

    data_node: Origins = NO_ORIGINS
    management: Origins = NO_ORIGINS
    sql: Origins = NO_ORIGINS
    tcp: Origins = NO_ORIGINS
    shm: Origins = NO_ORIGINS
    system: Origins = NO_ORIGINS
