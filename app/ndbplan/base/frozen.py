"""An immutable mapping that pydantic can hold: a plan is a value, so its mappings must be values too."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Generic, NoReturn, TypeVar

from pydantic import GetCoreSchemaHandler
from pydantic_core import CoreSchema, core_schema

K = TypeVar("K")
V = TypeVar("V")


class FrozenMap(dict[K, V], Generic[K, V]):
    """A dict whose content never changes; `with_` and `without` return changed copies."""

    def _refuse(self, *_args: Any, **_kwargs: Any) -> NoReturn:
        raise TypeError("a FrozenMap cannot be changed; use with_() or without()")

    __setitem__ = __delitem__ = _refuse
    clear = pop = popitem = setdefault = update = _refuse
    __ior__ = _refuse

    def __hash__(self) -> int:  # type: ignore[override]  # dict has none
        return hash(frozenset(self.items()))

    def with_(self, key: K, value: V) -> FrozenMap[K, V]:
        """A copy in which `key` is `value`; an existing key keeps its place."""
        return FrozenMap({**self, key: value})

    def without(self, key: K) -> FrozenMap[K, V]:
        """A copy without `key`."""
        return FrozenMap({k: v for k, v in self.items() if k != key})

    def __reduce__(self) -> tuple[Any, ...]:
        return (FrozenMap, (dict(self),))

    @classmethod
    def __get_pydantic_core_schema__(cls, source: Any, handler: GetCoreSchemaHandler) -> CoreSchema:
        args = getattr(source, "__args__", (Any, Any))
        inner = handler.generate_schema(Mapping[args[0], args[1]])  # type: ignore[valid-type]  # types that pydantic gives
        return core_schema.no_info_after_validator_function(
            cls, inner, serialization=core_schema.plain_serializer_function_ser_schema(dict)
        )
