"""A newsroom of three agents: an editor hands tasks to a researcher and a writer.

    pip install .
    python examples/newsroom.py

One catalogue holds all tools, a ledger counts every call, and a page shows the counts. The models
are scripted; with ANTHROPIC_API_KEY in the environment (and `pip install anthropic`) the same
agents talk to a real one.
"""

import asyncio
import os
import sys
from typing import Any

from ethos_registry import ToolContext, provider
from ethos_registry.agents import AgentCatalog
from ethos_registry.usage import UsageLedger

NOTES = {
    "harbour": "The old harbour reopens on Friday after two years of work.",
    "ferry": "The first ferry leaves at 08:15 and takes 240 passengers.",
}
Reply = dict[str, Any]


class Agent:
    """An agent: a task goes in, its model calls tools until it is content, an answer comes out."""

    id = ""
    description = ""

    def __init__(self, catalog: AgentCatalog) -> None:
        self.catalog = catalog

    def register_tools(self, catalog: AgentCatalog) -> None:
        """Register the tools of this agent."""

    def script(self, messages: list[Any]) -> Reply:
        """What the scripted model answers."""
        raise NotImplementedError

    async def run(self, task: str, context: Any, tool_context: ToolContext) -> str:
        """Work on a task. Others delegate to this method, and `main` starts the editor with it."""
        view = self.catalog.view(self.id)
        question = task if context is None else f"{task}\n\nWhat is known:\n{context}"
        messages: list[Any] = [{"role": "user", "content": question}]
        while True:
            reply = await ask_model(self, view.definitions("anthropic"), messages)
            messages.append({"role": "assistant", "content": reply["content"]})
            if reply["stop_reason"] != "tool_use":
                return "".join(block.get("text", "") for block in reply["content"])
            tool_context.report(f"calls {calls_in(reply)}", audience="user")
            results = await view.execute(provider("anthropic").calls(reply), tool_context)
            messages.extend(results.to_messages("anthropic"))


class Editor(Agent):
    """Plans the article and hands out the work."""

    id = "editor"

    def register_tools(self, catalog: AgentCatalog) -> None:
        """Delegation to the other two."""
        catalog.register_delegation(to=["researcher", "writer"])

    def script(self, messages: list[Any]) -> Reply:
        """Have two facts looked up at the same time, then have them written up."""
        if len(messages) == 1:
            tasks = [
                {"agent": "researcher", "task": "harbour"},
                {"agent": "researcher", "task": "ferry"},
                {"agent": "photographer", "task": "a picture of the harbour"},
            ]
            return calling("delegate_parallel", {"tasks": tasks})
        if len(messages) == 3:
            facts = messages[-1]["content"][0]["content"]
            task = {"agent": "writer", "task": "Write it up.", "context": facts}
            return calling("task", task)
        return saying(messages[-1]["content"][0]["content"])


class Researcher(Agent):
    """Finds facts."""

    id = "researcher"
    description = "Looks facts up in the notes of the newsroom."

    def register_tools(self, catalog: AgentCatalog) -> None:
        """A search, and an archive that no script ever reads."""

        @catalog.tool(toolset="notes")
        async def search_notes(word: str) -> str:
            """Find the notes on a subject."""
            await asyncio.sleep(0.01)
            return NOTES.get(word, "nothing found")

        @catalog.tool(toolset="notes")
        def read_microfilm(year: int) -> str:
            """Read the archive of a year before 1990."""
            return f"The film of {year} is being repaired."

    def script(self, messages: list[Any]) -> Reply:
        """Search for the one word of the task."""
        if len(messages) == 1:
            return calling("search_notes", {"word": messages[0]["content"]})
        return saying(messages[-1]["content"][0]["content"])


class Writer(Agent):
    """Turns facts into prose."""

    id = "writer"
    description = "Writes short articles from facts."

    def register_tools(self, catalog: AgentCatalog) -> None:
        """A count of words, to keep articles short."""

        @catalog.tool
        def count_words(text: str) -> int:
            """Count the words of the text."""
            return len(text.split())

    def script(self, messages: list[Any]) -> Reply:
        """Check the length, then write; and try a tool that belongs to the researcher."""
        article = " ".join(NOTES.values())
        if len(messages) == 1:
            return calling("count_words", {"text": article}, "search_notes", {"word": "ferry"})
        return saying(article)


def calling(*names_and_args: Any) -> Reply:
    """A reply that calls tools: a name, its arguments, the next name, and so on."""
    pairs = zip(names_and_args[::2], names_and_args[1::2], strict=True)
    blocks = [
        {"type": "tool_use", "id": f"call_{place}", "name": name, "input": args}
        for place, (name, args) in enumerate(pairs)
    ]
    return {"role": "assistant", "stop_reason": "tool_use", "content": blocks}


def saying(text: str) -> Reply:
    """A reply that ends the turn."""
    content = [{"type": "text", "text": text}]
    return {"role": "assistant", "stop_reason": "end_turn", "content": content}


def calls_in(reply: Reply) -> str:
    """The names of the tools that a reply calls."""
    return ", ".join(block["name"] for block in reply["content"] if block["type"] == "tool_use")


async def ask_model(agent: Agent, tools: list[Any], messages: list[Any]) -> Reply:
    """The reply of the scripted model, or of a real one where there is a key."""
    if not os.environ.get("ANTHROPIC_API_KEY"):
        return agent.script(messages)
    import anthropic

    reply = await anthropic.AsyncAnthropic().messages.create(
        model=os.environ.get("NEWSROOM_MODEL", "claude-sonnet-4-5"),
        max_tokens=1_000,
        system=f"You are the {agent.id} of a small newspaper. Be brief.",
        tools=tools,
        messages=messages,
    )
    return dict(reply.model_dump())


async def main(question: str, ledger: UsageLedger) -> str:
    """One article, from the question to the answer of the editor."""
    catalog = AgentCatalog(observers=[ledger])
    editor = Editor(catalog)
    for agent in (editor, Researcher(catalog), Writer(catalog)):
        catalog.add(agent)
    catalog.start()
    context = ToolContext(
        emit=lambda event: print(f"[{event.tool_name or 'editor'}] {event.message}")
    )
    return await editor.run(question, None, context)


if __name__ == "__main__":
    question = " ".join(sys.argv[1:]) or "What is new at the harbour?"
    with UsageLedger("newsroom.sqlite3") as ledger:
        print(asyncio.run(main(question, ledger)))
        report = ledger.report()
    for tool in report.tools:
        print(f"{tool.name}: {tool.invocations} invocations, {tool.refusals} refused")
    with open("newsroom.html", "w", encoding="utf-8") as page:
        page.write(report.to_html())
    print("newsroom.html shows who called what; so does `ethos-registry usage newsroom.sqlite3`")
