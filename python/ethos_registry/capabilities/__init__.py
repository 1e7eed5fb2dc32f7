"""What a tool may touch and how that is enforced."""

from typing import TYPE_CHECKING

from ethos_registry._lazy import lazy

if TYPE_CHECKING:
    from ethos_registry._processes.supervised_process import (
        SupervisedProcess,
        SupervisorUnavailableError,
    )
    from ethos_registry._processes.supervisor import containment, start_supervised
    from ethos_registry.capabilities._address_guard import HostNotAllowedError
    from ethos_registry.capabilities._files import (
        AttachmentNotFoundError,
        Protection,
        ReachFiles,
        folder_storage,
    )
    from ethos_registry.capabilities._key_values import (
        KeyValueDatabase,
        KeyValueError,
        QuotaExceededError,
    )
    from ethos_registry.capabilities._network import (
        ConnectionPools,
        FetchLimits,
        FetchResponse,
        ResponseTooLargeError,
    )
    from ethos_registry.capabilities._process import ProgramRunner
    from ethos_registry.capabilities._resolver import CapabilityBackends
    from ethos_registry.capabilities._sandbox import (
        CommandSandbox,
        SandboxPolicy,
        UnconfinedError,
        sandbox_support,
    )
    from ethos_registry.capabilities._secrets import EnvironmentSecrets, FileSecrets, KeyringSecrets
    from ethos_registry.capabilities._standard import StandardBackends, standard_backends
    from ethos_registry.types._policy import CommandPolicy, FsReach, NetworkPolicy, ToolCapabilities
    from ethos_registry.types._ports import (
        KeyValueStore,
        ScopedAttachments,
        ScopedFetch,
        ScopedFs,
        ScopedProcess,
        ScopedSecretsResolver,
        Storage,
    )

__all__ = [
    "AttachmentNotFoundError",
    "CapabilityBackends",
    "CommandPolicy",
    "CommandSandbox",
    "ConnectionPools",
    "EnvironmentSecrets",
    "FetchLimits",
    "FetchResponse",
    "FileSecrets",
    "FsReach",
    "HostNotAllowedError",
    "KeyValueDatabase",
    "KeyValueError",
    "KeyValueStore",
    "KeyringSecrets",
    "NetworkPolicy",
    "ProgramRunner",
    "Protection",
    "QuotaExceededError",
    "ReachFiles",
    "ResponseTooLargeError",
    "SandboxPolicy",
    "ScopedAttachments",
    "ScopedFetch",
    "ScopedFs",
    "ScopedProcess",
    "ScopedSecretsResolver",
    "StandardBackends",
    "Storage",
    "SupervisedProcess",
    "SupervisorUnavailableError",
    "ToolCapabilities",
    "UnconfinedError",
    "containment",
    "folder_storage",
    "sandbox_support",
    "standard_backends",
    "start_supervised",
]

if not TYPE_CHECKING:
    __getattr__, __dir__ = lazy(
        __name__,
        {
            "_processes.supervised_process": "SupervisedProcess SupervisorUnavailableError",
            "_processes.supervisor": "containment start_supervised",
            "capabilities._address_guard": "HostNotAllowedError",
            "capabilities._files": "AttachmentNotFoundError Protection ReachFiles folder_storage",
            "capabilities._key_values": "KeyValueDatabase KeyValueError QuotaExceededError",
            "capabilities._network": (
                "ConnectionPools FetchLimits FetchResponse ResponseTooLargeError"
            ),
            "capabilities._process": "ProgramRunner",
            "capabilities._resolver": "CapabilityBackends",
            "capabilities._sandbox": (
                "CommandSandbox SandboxPolicy UnconfinedError sandbox_support"
            ),
            "capabilities._secrets": "EnvironmentSecrets FileSecrets KeyringSecrets",
            "capabilities._standard": "StandardBackends standard_backends",
            "types._policy": "CommandPolicy FsReach NetworkPolicy ToolCapabilities",
            "types._ports": (
                "KeyValueStore ScopedAttachments ScopedFetch ScopedFs ScopedProcess "
                "ScopedSecretsResolver Storage"
            ),
        },
    )
