"""The Claude program's side of the Claude Agent SDK, without program, process and network."""

from __future__ import annotations

import asyncio
import contextlib
import itertools
import json
from collections.abc import AsyncIterator, Mapping, Sequence
from typing import Any

from claude_agent_sdk import Transport

__all__ = ["OfflineClaude"]


class OfflineClaude(Transport):
    """Answers the first prompt: calls tools in turns, then repeats the text of the last result.

    Give it as `transport` to `query` or `ClaudeSDKClient`. A turn is a list of calls, each the name
    `mcp__<server>__<tool>` and the arguments. They reach the server one after the other, or all at
    once with `parallel=True`.
    """

    def __init__(
        self, *turns: Sequence[tuple[str, Mapping[str, Any]]], parallel: bool = False
    ) -> None:
        self.turns = turns
        self.parallel = parallel
        self.listed: dict[str, list[dict[str, Any]]] = {}
        """Server -> the tools that it listed."""
        self._to_sdk: asyncio.Queue[dict[str, Any] | BaseException | None] = asyncio.Queue()
        self._numbers = itertools.count()
        self._waiting: dict[str, asyncio.Future[dict[str, Any]]] = {}
        self._playing: asyncio.Task[None] | None = None
        self._is_open = False

    async def connect(self) -> None:
        """Open."""
        self._is_open = True

    def is_ready(self) -> bool:
        """Whether it is open."""
        return self._is_open

    async def write(self, data: str) -> None:
        """Take one line of the SDK."""
        message = json.loads(data)
        if message["type"] == "control_request":
            response = {"subtype": "success", "request_id": message["request_id"], "response": {}}
            self._send("control_response", response=response)
        elif message["type"] == "control_response":
            self._waiting.pop(message["response"]["request_id"]).set_result(message["response"])
        elif self._playing is None:
            self._playing = asyncio.create_task(self._play())

    async def read_messages(self) -> AsyncIterator[dict[str, Any]]:
        """Yield the messages to the SDK."""
        while (message := await self._to_sdk.get()) is not None:
            if isinstance(message, BaseException):
                raise message
            yield message

    async def end_input(self) -> None:
        """End, as the program does when its input ends."""
        self._to_sdk.put_nowait(None)

    async def close(self) -> None:
        """Stop."""
        self._is_open = False
        if self._playing is not None:
            self._playing.cancel()
            with contextlib.suppress(asyncio.CancelledError):
                await self._playing

    def _send(self, kind: str, **fields: Any) -> None:
        self._to_sdk.put_nowait({"type": kind, "session_id": "offline", **fields})

    def _say(self, role: str, content: list[dict[str, Any]]) -> None:
        message = {"role": role, "model": "offline", "content": content}
        self._send(role, message=message, parent_tool_use_id=None)

    async def _play(self) -> None:
        try:
            blocks: list[dict[str, Any]] = [{"type": "text", "text": "done"}]
            for number, turn in enumerate(self.turns):
                results = await self._turn(number, turn)
                self._say("user", results)
                blocks = [part for part in results[-1]["content"] if part["type"] == "text"]
            self._say("assistant", blocks)
            self._send(
                "result",
                subtype="success",
                is_error=False,
                num_turns=len(self.turns) + 1,
                duration_ms=0,
                duration_api_ms=0,
                result="\n".join(block["text"] for block in blocks),
            )
        except Exception as error:
            self._to_sdk.put_nowait(error)

    async def _turn(
        self, number: int, turn: Sequence[tuple[str, Mapping[str, Any]]]
    ) -> list[dict[str, Any]]:
        calls = [(f"t{number}-{at}", name, dict(args)) for at, (name, args) in enumerate(turn)]
        self._say(
            "assistant",
            [
                {"type": "tool_use", "id": call_id, "name": name, "input": args}
                for call_id, name, args in calls
            ],
        )
        for _, name, _ in calls:
            await self._greet(name.split("__", 2)[1])
        if self.parallel:
            return await asyncio.gather(*(self._call(*call) for call in calls))
        return [await self._call(*call) for call in calls]

    async def _greet(self, server: str) -> None:
        """Introduce itself to a server and list its tools, once."""
        if server in self.listed:
            return
        info = {"name": "offline", "version": "1"}
        hello = {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": info}
        await self._request(server, "initialize", hello)
        await self._request(server, "notifications/initialized")
        self.listed[server] = (await self._request(server, "tools/list", {}))["tools"]

    async def _call(self, call_id: str, name: str, args: dict[str, Any]) -> dict[str, Any]:
        _, server, bare = name.split("__", 2)
        found = await self._request(server, "tools/call", {"name": bare, "arguments": args})
        content = [_block(part) for part in found["content"]]
        is_error = found.get("isError", False)
        return {
            "type": "tool_result",
            "tool_use_id": call_id,
            "content": content,
            "is_error": is_error,
        }

    async def _request(self, server: str, method: str, params: Any = None) -> dict[str, Any]:
        number = f"r{next(self._numbers)}"
        message: dict[str, Any] = {"jsonrpc": "2.0", "method": method}
        if params is not None:
            message["params"] = params
        if not method.startswith("notifications/"):
            message["id"] = number
        answer = self._waiting[number] = asyncio.get_running_loop().create_future()
        request = {"subtype": "mcp_message", "server_name": server, "message": message}
        self._send("control_request", request_id=number, request=request)
        response = await answer
        if response["subtype"] == "error" or "error" in response["response"]["mcp_response"]:
            raise RuntimeError(f"{method} of `{server}` failed: {response}")
        result: dict[str, Any] = response["response"]["mcp_response"]["result"]
        return result


def _block(part: dict[str, Any]) -> dict[str, Any]:
    """The part of an MCP result as the model reads it."""
    if part["type"] != "image":
        return part
    source = {"type": "base64", "data": part["data"], "media_type": part["mimeType"]}
    return {"type": "image", "source": source}
