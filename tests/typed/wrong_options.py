from ethos_registry import Personality, ToolRegistry


async def main() -> None:
    registry = ToolRegistry(max_treads=3)  # refused
    view = registry.view(Personality("all"))
    await registry.execute_parallel([], deadline=3)  # refused
    await view.execute([], budget_policy="greedy")  # refused
    async for _ in view.stream([], max_concurency=3):  # refused
        pass
