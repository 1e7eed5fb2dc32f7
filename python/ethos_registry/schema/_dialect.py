"""What a provider takes of JSON Schema, as data."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Literal


@dataclass(frozen=True, slots=True)
class StrictRules:
    """The part of JSON Schema that a provider takes for `strict`."""

    keywords: frozenset[str]
    formats: frozenset[str]
    optional_is_nullable: bool
    """Whether every property must be required, so that an optional one takes null."""
    max_min_items: float
    """The largest `minItems`."""
    takes_recursion: bool
    max_object_levels: int | None = None
    max_properties: int | None = None
    max_enum_values: int | None = None
    max_name_chars: int | None = None
    """The characters of all names and enum values of a schema."""
    max_large_enum_chars: int | None = None
    """The characters of one enum of more than 250 values."""


@dataclass(frozen=True, slots=True)
class StrictBudget:
    """What all strict tools of one request may have together."""

    tools: int
    optional: int
    """Optional parameters."""
    unions: int
    """Parameters with `anyOf` or a list of types."""


@dataclass(frozen=True, slots=True, eq=False)  # a key of caches, so its hash has to be cheap
class Dialect:
    """The JSON Schema of one provider.

    A change of these rules, or of what is made of them, has no number to raise: a `Prefix` knows
    what each author wrote, and so finds what only the rules have changed.
    """

    name: str
    property_name: re.Pattern[str] | None = None
    """What a property's name must match in full; `None` for any name."""
    refused_at_root: frozenset[str] = frozenset()
    keywords: frozenset[str] | None = None
    """The keywords that are known; `None` for all of draft 2020-12."""
    root_keywords: frozenset[str] | None = None
    """The same for the root, if it differs."""
    without: frozenset[str] = frozenset()
    """Keywords of draft 2020-12 that are refused or harmful."""
    formats: frozenset[str] | None = None
    array_needs_items: bool = False
    object_needs_properties: bool = False
    boolean_schemas: bool = False
    const: bool = True
    string_enums: bool = False
    """Whether an enum may hold strings alone."""
    types: Literal["list", "joined", "one"] = "list"
    """How several types are written: as they are, as a list if they are bare branches of `anyOf`,
    or with `nullable` and `anyOf`."""
    any_value: Literal["empty", "any_of", "type_list"] = "empty"
    """How a schema without a type is written."""
    type_beside_any_of: bool = True
    keeps_definitions: bool = True
    """Whether `$defs` and `$ref` are taken; else recursion ends after three levels."""
    ref_siblings: bool = True
    pattern: Literal["any", "python", "anchored", "none"] = "any"
    pattern_with_length: bool = True
    pattern_beside_properties: bool = True
    """Whether `patternProperties` may stand beside `properties`."""
    one_of_disjoint: bool = False
    """Whether `oneOf` is taken only if its branches visibly exclude each other."""
    items_are_whole: bool = False
    """Whether everything inside `items` is kept."""
    max_items_sum: int | None = None
    """The largest sum of `maxItems` in one schema."""
    strict: StrictRules | None = None
    budget: StrictBudget | None = None
