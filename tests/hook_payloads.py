"""Hook payloads that were recorded from coding agents, and mutations of them."""

import copy
import json
import random
from pathlib import Path
from typing import Any

FOLDER = Path(__file__).parent / "data" / "hooks"
NAMES = {"claude-code": "claude", "copilot-cli": "copilot", "gemini-cli": "gemini"}
LONG = "".join(f"compiled unit {number}\n" for number in range(2_000)) + "error: unit 7: no door\n"
VALUES: tuple[Any, ...] = (
    *(None, True, False, 0, -1, 2**70, 1.5, "", "x", [], {}, "error", LONG, LONG + "\0"),
    *([LONG], {"text": LONG}, '{"a": 1}', "\ud800", "/etc/passwd", "deny", "exec-1"),
    *([{"type": "text", "text": LONG}], [{"type": "image", "data": "x"}, {"text": LONG}]),
)


def recorded() -> list[tuple[str, str, Any]]:
    """The agent, the case and the payload of each."""
    return [
        (NAMES.get(document["agent"], document["agent"]), payload["case"], payload["stdin"])
        for path in sorted(FOLDER.glob("*.json"))
        for document in [json.loads(path.read_text(encoding="utf-8"))]
        for payload in document["payloads"]
    ]


def with_output(payload: Any, output: str, *replaced: str) -> Any:
    """The payload with the output of the recorded command replaced."""
    text = json.dumps(payload)
    for old in replaced:
        text = text.replace(json.dumps(old)[1:-1], json.dumps(output)[1:-1])
    return json.loads(text)


def _places(value: Any) -> list[tuple[Any, Any]]:
    items: list[tuple[Any, Any]] = []
    if isinstance(value, dict):
        items = list(value.items())
    elif isinstance(value, list):
        items = list(enumerate(value))
    return [(value, key) for key, _ in items] + [
        place for _, inner in items for place in _places(inner)
    ]


def mutated(payload: Any, rng: random.Random) -> bytes:
    """The bytes of a payload with some of its values replaced, removed or made long."""
    payload = copy.deepcopy(payload)
    for _ in range(rng.randint(1, 4)):
        places = _places(payload)
        if not places:
            break
        holder, key = rng.choice(places)
        kind = rng.randrange(4)
        if kind == 0:
            del holder[key]
        elif kind == 1 or not isinstance(holder[key], str):
            holder[key] = copy.deepcopy(rng.choice(VALUES))
        elif kind == 2:
            holder[key] = LONG + holder[key]
        else:
            holder[key] = holder[key] + "\n" + LONG
    data = bytearray(json.dumps(payload).encode("utf-8", errors="surrogatepass"))
    if rng.random() < 0.1 and data:
        at = rng.randrange(len(data))
        data[at : at + rng.randrange(3)] = rng.choice([b"\xff", b"", b"\\ud800", b'"', b"}"])
    return bytes(data)
