"""How many attacks are tried, by how many mechanisms; each also without its guard."""

from __future__ import annotations

import sys

import pytest

from capabilities.test_command_sandbox import FAMILIES
from command_attacks import ATTACKS
from scoped_attacks import READS, WRITES

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="needs Linux")


def test_there_are_enough_attacks_by_enough_mechanisms():
    from capabilities.test_supervisor import OUTLIVE

    attacks = [
        *(f"command: {name}" for name in ATTACKS),
        *(f"socket: {name}" for name in FAMILIES),
        *(f"process: {name}" for name in OUTLIVE),
        *(f"scoped read: {name}" for name in READS),
        *(f"scoped write: {name}" for name in WRITES),
    ]
    assert len(set(attacks)) == len(attacks) >= 120
    mechanisms = {attack.mechanism for attack in ATTACKS.values()}
    assert len(mechanisms) >= 40
