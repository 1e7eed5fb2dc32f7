"""Tools that take and return pydantic models."""

from datetime import date
from typing import Annotated, Literal

from pydantic import BaseModel, Field

from ethos_registry import ToolRegistry
from ethos_registry.testing import assert_ok, run_tool


class Guest(BaseModel):
    """Who books."""

    name: Annotated[str, Field(min_length=1)]
    email: str


class Booking(BaseModel):
    """What was booked."""

    room: str
    day: date
    guests: list[Guest]


registry = ToolRegistry(validate_arguments=True)


@registry.tool(toolset="rooms")
def book(day: date, guests: list[Guest], room: Literal["Blue", "Green"] = "Blue") -> Booking:
    """Book a room.

    Args:
        day: The day of the booking.
        guests: Everyone who comes.
        room: Which room.
    """
    return Booking(room=room, day=day, guests=guests)


def main() -> None:
    """Book with what a model sends, and directly."""
    arguments = {"day": "2026-05-01", "guests": [{"name": "Ada", "email": "ada@example.org"}]}
    result = assert_ok(run_tool(book, arguments))
    print(result.structured)
    direct: Booking = book(date(2026, 5, 1), [Guest(name="Ada", email="ada@example.org")])
    print(direct.room)


if __name__ == "__main__":
    main()
