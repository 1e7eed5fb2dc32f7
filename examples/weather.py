"""A weather tool, and the results of valid and invalid arguments.

pip install .
python examples/weather.py
"""

from typing import Annotated, Literal

from pydantic import Field

from ethos_registry import tool
from ethos_registry.testing import run_tool


@tool(toolset="weather", timeout_seconds=5, idempotent=True)
def forecast(
    city: Annotated[str, Field(min_length=1, description="Name of the city")],
    days: Annotated[int, Field(ge=1, le=7)] = 1,
    unit: Literal["celsius", "fahrenheit"] = "celsius",
) -> str:
    """Get the weather of the next days."""
    degrees = 12 if unit == "celsius" else 54
    return f"{city}: {degrees} degrees and rain for {days} day(s)"


if __name__ == "__main__":
    for arguments in (
        {"city": "Oslo", "days": "3"},
        {"city": "", "days": 30},
        {"town": "Oslo"},
        '{"city": "Oslo",',
    ):
        result = run_tool(forecast, arguments)
        print(f"{'ok' if result.ok else result.result.to_wire()['code']}: {result.text}")
