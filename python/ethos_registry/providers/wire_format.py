"""What the providers share: a list of definitions out of single ones."""

from __future__ import annotations

import contextlib
from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Any, ClassVar, Generic, NamedTuple, TypeVar, cast

from ethos_registry.providers.rendered import MARKER
from ethos_registry.providers.shown_tool import (
    DefinitionOrder,
    SchemaNote,
    ShownTool,
    breakpoint_positions,
    ordered,
)
from ethos_registry.schema.compilation import NoSchemaError
from ethos_registry.schema.compiler import Compiled, compile_schema
from ethos_registry.schema.dialect import Dialect
from ethos_registry.schema.strict import BudgetUse, StrictForm, strict_form

__all__ = ["SentTool", "WireFormat"]

DefinitionT = TypeVar("DefinitionT")
MessageT = TypeVar("MessageT")


class SentTool(NamedTuple):
    """A tool in the words of a provider."""

    name: str
    description: str
    parameters: Mapping[str, Any]
    is_strict: bool


class WireFormat(Generic[DefinitionT, MessageT]):
    """One wire format; the types are those of an item of `tools` and of a message."""

    name: ClassVar[str]
    has_markers: ClassVar[bool] = False
    frame: ClassVar[str | None] = None

    default_dialect: ClassVar[Dialect]

    def __init__(self, dialect: Dialect | None = None) -> None:
        self.dialect = self.default_dialect if dialect is None else dialect
        self.key = f"{self.name}/{self.dialect.name}/{self.dialect.version}"
        """Names what a definition looks like."""

    def __repr__(self) -> str:
        if self.dialect is self.default_dialect:
            return f"provider({self.name!r})"
        return f"provider({self.name!r}, dialect={self.dialect.name!r})"

    def compiled(self, tool: ShownTool) -> Compiled:
        """The schema in the provider's dialect; `NoSchemaError` if it has no form there."""
        try:
            return compile_schema(tool.definition["parameters"], self.dialect)
        except NoSchemaError as problem:
            raise NoSchemaError(
                f"tool `{tool.definition['name']}` cannot be sent to {self.dialect.name}: {problem}"
            ) from None

    def strict(self, tool: ShownTool) -> StrictForm:
        """The strict form; `NoSchemaError` with the reason if there is none."""
        rules = self.dialect.strict
        if rules is None:
            raise NoSchemaError(f"{self.dialect.name} has no strict tools")
        return strict_form(self.compiled(tool).schema, rules)

    def sent(self, tool: ShownTool) -> SentTool:
        """The tool as a definition has it; a strict one plain if it has no strict form."""
        compiled = self.compiled(tool)
        parameters, is_strict = compiled.schema, False
        rules = self.dialect.strict
        if tool.strict and rules is not None:
            with contextlib.suppress(NoSchemaError):
                parameters, is_strict = strict_form(compiled.schema, rules).schema, True
        definition = tool.definition
        description = definition["description"]
        if compiled.tool_note:
            note = compiled.tool_note
            description = f"{description}\n\n{note}" if description else note
        return SentTool(definition["name"], description, parameters, is_strict)

    def schema_notes(self, tools: Iterable[ShownTool]) -> list[SchemaNote]:
        """What is sent of the tools in other words than their authors', in their order."""
        notes: list[SchemaNote] = []
        use = BudgetUse(self.dialect.budget)
        for tool in tools:
            name = tool.definition["name"]
            try:
                compiled = compile_schema(tool.definition["parameters"], self.dialect)
            except NoSchemaError as problem:
                message = f"left out: {problem}"
                notes.append(SchemaNote(name, self.dialect.name, "left_out", "", message))
                continue
            notes += [SchemaNote(name, self.dialect.name, *change) for change in compiled.changes]
            if not tool.strict or self.dialect.strict is None:
                continue
            try:
                form = strict_form(compiled.schema, self.dialect.strict)
                reason = use.refusal(form.optional, form.unions)
            except NoSchemaError as problem:
                reason = str(problem)
            if reason is not None:
                message = f"not sent as strict: {reason}"
                notes.append(SchemaNote(name, self.dialect.name, "plain", "", message))
        return notes

    def definition(self, tool: ShownTool) -> dict[str, Any]:
        """One tool as the model is shown it, without a marker; plain values."""
        raise NotImplementedError

    def calls(self, reply: object) -> list[Any]:
        """The calls of one whole reply."""
        raise NotImplementedError

    def messages(self, results: Iterable[Any]) -> list[MessageT]:
        """The messages that answer the calls."""
        raise NotImplementedError

    def definitions(
        self,
        tools: Iterable[ShownTool],
        *,
        order: DefinitionOrder = "segments",
        breakpoints: int = 1,
    ) -> list[DefinitionT]:
        """The `tools` of a request: fresh dicts over the schemas that were given.

        A tool whose schema has no form for the provider is left out, since it would make the whole
        request fail, and strict tools are sent as such while the provider's budget lasts:
        `schema_notes` lists both.

        `breakpoints` (0, 1 or 2) counts cache markers where the format has them.
        """
        shown = self._fitting(ordered(tools, order))
        marked = breakpoint_positions([tool.segment for tool in shown], breakpoints)
        definitions: list[Any] = [self.definition(tool) for tool in shown]
        if self.has_markers:
            for position in marked:
                definitions[position]["cache_control"] = dict(MARKER)
        if self.frame is not None and definitions:
            return cast("list[DefinitionT]", [{self.frame: definitions}])
        return definitions

    def _fitting(self, tools: list[ShownTool]) -> list[ShownTool]:
        """The tools that have a form, strict ones within the budget."""
        use = BudgetUse(self.dialect.budget)
        fitting = []
        for tool in tools:
            with contextlib.suppress(NoSchemaError):
                self.compiled(tool)
                fitting.append(replace(tool, strict=tool.strict and self._fits(tool, use)))
        return fitting

    def _fits(self, tool: ShownTool, use: BudgetUse) -> bool:
        try:
            form = self.strict(tool)
        except NoSchemaError:
            return False
        return use.refusal(form.optional, form.unions) is None
