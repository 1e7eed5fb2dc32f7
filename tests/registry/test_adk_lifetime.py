"""ADK-46 to 68: ephemeral tools, bindings, hidden tools (facts of seed 003, by their numbers)."""

from __future__ import annotations

import pickle
import threading

import pytest

from ethos_registry import ConfigError, EthosRegistryError, ToolRegistry
from ethos_registry.registry import DispatchContext, TurnAlreadySignalledError, is_tool_registry
from registry_tools import made, names, outcomes


def registry_of(*tool_names: str) -> ToolRegistry:
    """A registry whose tools are ephemeral where their name ends in an underscore."""
    return ToolRegistry([made(name, ephemeral=name.endswith("_")) for name in tool_names])


# Ephemeral tools


def test_adk_46_pruning_drops_exactly_the_ephemeral_tools() -> None:
    registry = registry_of("a", "b_", "c", "d_")
    registry.prune_ephemeral()
    assert names(registry.all()) == ["a", "c"]


def test_adk_47_pruning_twice_is_pruning_once() -> None:
    registry = registry_of("a", "b_")
    registry.prune_ephemeral()
    registry.prune_ephemeral()
    assert names(registry.all()) == ["a"]


def test_adk_48_without_ephemeral_tools_nothing_changes() -> None:
    registry = registry_of("c", "a", "b")
    registry.prune_ephemeral()
    assert names(registry.all()) == ["c", "a", "b"]


def test_adk_49_a_registry_of_ephemeral_tools_is_empty_afterwards() -> None:
    registry = registry_of("a_", "b_")
    registry.prune_ephemeral()
    assert registry.all() == []


def test_a_turn_prunes_the_ephemeral_tools_of_its_base_and_the_base_keeps_them() -> None:
    base = registry_of("a", "b_")
    turn = base.for_turn()
    turn.register(made("b_", ephemeral=False), overwrite=True)
    turn.register(made("c_", ephemeral=True))
    turn.prune_ephemeral()
    assert (names(turn.all()), names(base.all())) == (["a", "b_"], ["a", "b_"])
    second = base.for_turn()
    second.prune_ephemeral()
    assert names(second.all()) == ["a"]


# Bindings


def test_adk_50_acknowledging_prunes_before_it_returns() -> None:
    registry, context = registry_of("a", "b_"), DispatchContext()
    registry.bind_context(context)
    context.ack()
    assert names(registry.all()) == ["a"]


def test_adk_51_a_turn_that_failed_prunes_nothing() -> None:
    registry, context = registry_of("a", "b_"), DispatchContext()
    registry.bind_context(context)
    context.nack()
    assert names(registry.all()) == ["a", "b_"]


def test_adk_52_an_unbound_registry_is_not_pruned() -> None:
    registry, context = registry_of("b_"), DispatchContext()
    registry.bind_context(context)()
    context.ack()
    assert names(registry.all()) == ["b_"]


def test_adk_53_unsubscribing_after_the_ack_does_nothing() -> None:
    registry, context = registry_of("a", "b_"), DispatchContext()
    unsubscribe = registry.bind_context(context)
    context.ack()
    unsubscribe()
    assert names(registry.all()) == ["a"]


def test_adk_54_unsubscribing_twice_does_nothing_more() -> None:
    registry, context = registry_of("a", "b_"), DispatchContext()
    unsubscribe = registry.bind_context(context)
    unsubscribe()
    unsubscribe()
    context.ack()
    assert names(registry.all()) == ["a", "b_"]


def test_adk_55_a_second_binding_stays_when_the_first_ends() -> None:
    registry, context = registry_of("b_"), DispatchContext()
    first = registry.bind_context(context)
    registry.bind_context(context)
    first()
    first()
    context.ack()
    assert registry.all() == []


def test_adk_56_a_second_ack_is_refused_and_prunes_nothing() -> None:
    registry, context = registry_of("b_"), DispatchContext()
    registry.bind_context(context)
    context.ack()
    registry.register(made("c_", ephemeral=True))
    with pytest.raises(TurnAlreadySignalledError) as refused:
        context.ack()
    assert names(registry.all()) == ["c_"]
    assert refused.value.code == "E_LLM_EXECUTION_ALREADY_SIGNALLED"
    assert isinstance(refused.value, EthosRegistryError)


def test_adk_57_a_nack_after_an_ack_is_refused() -> None:
    context = DispatchContext()
    context.ack()
    with pytest.raises(TurnAlreadySignalledError, match="acknowledged"):
        context.nack()
    assert (context.is_acked, context.nack_error) == (True, None)


def test_adk_58_an_ack_after_a_nack_is_refused_and_prunes_nothing() -> None:
    registry, context = registry_of("b_"), DispatchContext()
    registry.bind_context(context)
    context.nack()
    with pytest.raises(TurnAlreadySignalledError):
        context.ack()
    assert names(registry.all()) == ["b_"]
    assert not context.is_acked


def test_adk_59_binding_after_the_ack_never_prunes() -> None:
    registry, context = registry_of("b_"), DispatchContext()
    context.ack()
    registry.bind_context(context)()
    registry.bind_context(context)
    with pytest.raises(TurnAlreadySignalledError):
        context.ack()
    assert names(registry.all()) == ["b_"]


def test_adk_60_all_registries_of_a_context_are_pruned_in_the_order_of_binding() -> None:
    first, second, context = registry_of("a_"), registry_of("b_"), DispatchContext()
    seen: list[tuple[int, int]] = []
    first.bind_context(context)
    context.on_ack(lambda: seen.append((first.size, second.size)))
    second.bind_context(context)
    context.ack()
    assert seen == [(0, 1)]
    assert second.size == 0


def test_adk_61_the_first_of_two_contexts_prunes() -> None:
    registry, early, late = registry_of("b_"), DispatchContext(), DispatchContext()
    registry.bind_context(late)
    registry.bind_context(early)
    early.ack()
    assert registry.all() == []
    registry.register(made("c_", ephemeral=True))
    late.ack()
    assert registry.all() == []


def test_adk_62_a_handler_that_raises_stops_neither_the_others_nor_the_ack(caplog) -> None:
    registry, context = registry_of("b_"), DispatchContext()
    context.on_ack(lambda: 1 / 0)
    registry.bind_context(context)
    context.ack()
    assert registry.all() == []
    assert "`on_ack` handler raised" in caplog.text


def test_adk_63_a_nack_without_an_error_has_one() -> None:
    context = DispatchContext()
    context.nack()
    assert isinstance(context.nack_error, EthosRegistryError)
    assert (context.is_signalled, context.is_acked) == (True, False)
    failed, reason = DispatchContext(), OSError("disk")
    failed.nack(reason)
    assert failed.nack_error is reason


def test_adk_64_the_documented_pattern_leaves_merged_alone_but_forged_tools_end() -> None:
    main, context = registry_of("a", "b_"), DispatchContext()
    forged = ToolRegistry.forged([made("artifact_head")], context)
    merged = ToolRegistry.merge([main, forged])
    main.bind_context(context)
    assert set(outcomes(merged, ["a", "b_", "artifact_head"]).values()) == {None}
    context.ack()
    assert names(main.all()) == ["a"]
    assert names(merged.all()) == ["a", "b_", "artifact_head"]
    assert names(merged.to_definitions()) == ["a", "b_"]
    assert outcomes(merged, ["b_", "artifact_head"]) == {"b_": None, "artifact_head": "unavailable"}


# Hidden tools


def test_adk_65_a_hidden_tool_is_not_visible_and_is_found() -> None:
    registry = registry_of("a", "b")
    registry.hide("a")
    assert names(registry.visible()) == ["b"]
    assert names(registry.hidden()) == ["a"]
    assert registry.get("a") is registry.all()[0]
    assert names(registry.to_definitions()) == ["b"]
    assert outcomes(registry, ["a"]) == {"a": None}


def test_adk_66_a_tool_that_comes_back_is_visible_again() -> None:
    registry = registry_of("a")
    registry.hide("a")
    registry.unregister("a")
    registry.register(made("a"))
    assert registry.hidden() == []


def test_adk_67_an_overwritten_tool_stays_hidden() -> None:
    for registry in (registry_of("a"), registry_of("a").for_turn()):
        registry.hide("a")
        registry.register(made("a"), overwrite=True)
        assert names(registry.hidden()) == ["a"]


def test_adk_68_setting_the_hidden_tools_replaces_them_all() -> None:
    base = registry_of("a", "b", "c")
    base.hide("c")
    for registry in (base.for_turn(), base):
        registry.set_hidden(["b", "a", "b"])
        assert names(registry.hidden()) == ["a", "b"]
        registry.clear_hidden()
        assert registry.hidden() == []
    assert names(base.visible()) == ["a", "b", "c"]


@pytest.mark.parametrize(
    "hide", [ToolRegistry.hide, lambda registry, name: registry.set_hidden([name])]
)
def test_an_unknown_name_is_not_hidden_when_it_comes(hide) -> None:
    registry = registry_of("a")
    hide(registry, "later")
    registry.unhide("never")
    registry.register(made("later"))
    assert names(registry.visible()) == ["a", "later"]


def test_hiding_takes_names_and_nothing_else() -> None:
    registry = registry_of("a")
    for wrong in (lambda: registry.set_hidden("a"), lambda: registry.hide(["a"])):
        with pytest.raises(ConfigError):
            wrong()
    assert registry.hidden() == []


# The context itself


def test_a_handler_that_is_added_by_a_handler_is_called_too() -> None:
    context, seen = DispatchContext(), []
    context.on_ack(lambda: context.on_ack(lambda: seen.append("late")))
    context.ack()
    assert seen == ["late"]


def test_of_many_threads_that_acknowledge_one_succeeds() -> None:
    registry, context = registry_of("b_"), DispatchContext()
    seen: list[str] = []
    context.on_ack(lambda: seen.append("called"))
    registry.bind_context(context)
    gate = threading.Barrier(8)

    def acknowledge() -> None:
        gate.wait(100)
        try:
            context.ack()
            seen.append("acknowledged")
        except TurnAlreadySignalledError:
            seen.append("refused")

    threads = [threading.Thread(target=acknowledge) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(seen) == ["acknowledged", "called", *["refused"] * 7]
    assert registry.all() == []


def test_aborting_is_no_signal_and_happens_once() -> None:
    context = DispatchContext()
    context.abort("enough")
    context.abort("again")
    assert (context.aborted, context.abort_signal.reason, context.is_signalled) == (
        True,
        "enough",
        False,
    )
    context.ack()


def test_what_is_of_the_wrong_kind_is_reported() -> None:
    registry, context = registry_of("a"), DispatchContext()
    for wrong, said in (
        (lambda: registry.bind_context(object()), "on_ack"),
        (lambda: context.on_ack("handler"), "on_ack"),
        (lambda: ToolRegistry.forged([], object()), "is_acked"),
        (lambda: ToolRegistry.forged(5, context), "list of tools"),
        (lambda: context.on_tool_start(None), "on_tool_start"),
        (lambda: context.nack("no"), "exception"),
        (lambda: context.abort(5), "reason"),
        (lambda: context.tool_call_count(5), "checksum"),
        (lambda: registry.turn(object()), "DispatchContext"),
    ):
        with pytest.raises(ConfigError, match=said):
            wrong()


def test_a_context_belongs_to_its_process_and_its_errors_do_not() -> None:
    context = DispatchContext()
    with pytest.raises(TypeError, match="process"):
        pickle.dumps(context)
    context.ack()
    with pytest.raises(TurnAlreadySignalledError) as refused:
        context.ack()
    again = pickle.loads(pickle.dumps(refused.value))
    assert (str(again), again.outcome) == (str(refused.value), "acknowledged")


def test_only_a_registry_and_what_derives_from_it_is_one() -> None:
    class Derived(ToolRegistry):
        pass

    class Liar:
        __class__ = ToolRegistry

    stranger = type("ToolRegistry", (), {})()
    assert is_tool_registry(ToolRegistry())
    assert is_tool_registry(Derived())
    assert is_tool_registry(ToolRegistry().for_turn())
    assert ToolRegistry.is_tool_registry is is_tool_registry
    for other in (stranger, Liar(), ToolRegistry, None, ToolRegistry().freeze()):
        assert not is_tool_registry(other)
