"""A turn whose long results can be read again until the turn ends."""

from ethos_registry import ToolContext, ToolRegistry
from ethos_registry.artifacts import MemoryArtifactStore
from ethos_registry.registry import DispatchContext, Turn
from ethos_registry.tools import ArtifactReaders

registry = ToolRegistry()


@registry.tool
def log(lines: int) -> str:
    """Return a log."""
    return "\n".join(f"line {number}" for number in range(lines))


def main() -> None:
    """Run a call whose result is cut, then read its end."""
    store = MemoryArtifactStore()
    context = DispatchContext()
    turn: Turn = registry.turn(context, ArtifactReaders(store))
    for_call = ToolContext(result_budget_chars=40, artifact_store=store)
    [cut] = turn.registry.execute_parallel_sync(
        [{"id": "1", "name": "log", "args": {"lines": 1_000}}], for_call
    )
    print(cut.truncated_from is not None)
    turn.begin_iteration()
    [artifact] = store.artifacts()
    [tail] = turn.registry.execute_parallel_sync(
        [{"id": "2", "name": "artifact_tail", "args": {"artifact_id": artifact.id, "n": 1}}],
        ToolContext(artifact_store=store),
    )
    print(tail.text)
    context.ack()
    print(store.artifacts())


if __name__ == "__main__":
    main()
