"""`ethos-registry tools --check`: what the tools of a personality will not get here."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any, TypedDict

from rich.console import Console, ConsoleOptions, RenderResult
from rich.text import Text

from ethos_registry import Personality, ToolRegistry, sandbox_support
from ethos_registry.cli.visible import visible

__all__ = ["CapabilityReport", "RenderedCapabilities", "capability_report"]


class CapabilityReport(TypedDict):
    """What is declared and not covered, and how strong commands are confined."""

    personality: str
    sandbox: str
    sandbox_reason: str
    findings: list[dict[str, Any]]


def capability_report(registry: ToolRegistry, personality: Personality) -> CapabilityReport:
    """The document that `--json` prints."""
    support = sandbox_support()
    findings = [asdict(finding) for finding in registry.validate_for(personality)]
    return {
        "personality": personality.id,
        "sandbox": support.level,
        "sandbox_reason": support.reason,
        "findings": findings,
    }


_STYLES = {
    "no_backend": "red",
    "not_bindable": "red",
    "not_covered": "yellow",
    "undeclared": "yellow",
}


class RenderedCapabilities:
    """Draws a report: one line for each finding."""

    def __init__(self, report: CapabilityReport) -> None:
        self.report = report

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        """The findings, then the level of the sandbox."""
        for finding in self.report["findings"]:
            line = f"{finding['kind']}: {visible(finding['tool'])}: {visible(finding['message'])}"
            yield Text(line, style=_STYLES.get(finding["kind"], "yellow"))
        if not self.report["findings"]:
            yield Text(f"`{visible(self.report['personality'])}` covers what its tools declare")
        reason = self.report["sandbox_reason"]
        yield Text(f"sandbox: {self.report['sandbox']}" + (f" ({reason})" if reason else ""))
