"""What the user designs: an immutable Plan, pure edits on it, and its file."""

from ndbplan.base.startup import ease_pydantic

ease_pydantic()
