"""The observer that reports calls to OpenTelemetry."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any

from ethos_registry import _core
from ethos_registry._core import __version__
from ethos_registry.contract import checks
from ethos_registry.contract.callables import check_callback
from ethos_registry.contract.errors import ConfigError
from ethos_registry.contract.extras import missing_extra
from ethos_registry.contract.observer import StartedBatch
from ethos_registry.execution.logged import log_exception
from ethos_registry.telemetry.content import captures_content
from ethos_registry.telemetry.instruments import Instruments
from ethos_registry.telemetry.observed_batch import MeasuredBatch, TracedBatch
from ethos_registry.telemetry.traced_call import AttributeSource

if TYPE_CHECKING:
    from opentelemetry.metrics import MeterProvider
    from opentelemetry.trace import Tracer, TracerProvider

__all__ = ["OpenTelemetry"]

_logger = logging.getLogger("ethos_registry")

_API_MODULES = ("opentelemetry.trace", "opentelemetry.metrics")
"""Providers of the API itself do nothing; those of an SDK are in other modules."""


class OpenTelemetry:
    """Reports each call as a span `execute_tool {tool}` and as metrics (extra `otel`).

    Give it to registries as an observer: `ToolRegistry(observers=[OpenTelemetry()])`. Without an
    OpenTelemetry SDK a batch costs one check. The parent of the spans is the caller's current span,
    and spans that a tool starts are their children, also on threads. Spans are ended when the batch
    has ended, with the time at which their call ended.

    Args:
        tracer_provider: Default: the global one.
        meter_provider: Default: the global one.
        capture_content: Whether spans hold the arguments and the text that the model reads, each
            without credentials and at most 8 KiB. Default: the environment variable
            `OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT` (`SPAN_ONLY`, `SPAN_AND_EVENT` or
            `true` turn it on), else no content.
        extra_attributes: Functions that take a `TracedCall` and return further attributes, such as
            the presets `OpenInference()` and `Langfuse()`.

    Raises:
        ConfigError: The package `opentelemetry-api` is not installed, or an argument is of the
            wrong kind.

    >>> OpenTelemetry()
    OpenTelemetry()

    """

    def __init__(
        self,
        *,
        tracer_provider: TracerProvider | None = None,
        meter_provider: MeterProvider | None = None,
        capture_content: bool | None = None,
        extra_attributes: AttributeSource | Iterable[AttributeSource] = (),
    ) -> None:
        try:
            from opentelemetry import metrics, trace
        except ImportError:
            raise missing_extra("OpenTelemetry", "otel") from None
        _check_provider(tracer_provider, "tracer_provider", "get_tracer")
        _check_provider(meter_provider, "meter_provider", "get_meter")
        if capture_content is not None:
            checks.boolean(capture_content, "capture_content")
        self._trace, self._metrics = trace, metrics
        self._metrics_state = getattr(metrics, "_internal", None)
        self._tracer_provider = tracer_provider
        self._meter_provider = meter_provider
        self._capture_content = capture_content
        self._extra_attributes = _sources(extra_attributes)
        self._tracers: tuple[object, Tracer | None] = (None, None)
        self._instruments: tuple[object, Instruments | None] = (None, None)
        self._logged: set[str] = set()
        if tracer_provider is None:  # loads one that an environment variable names
            trace.get_tracer_provider()
        if meter_provider is None:
            metrics.get_meter_provider()

    def __repr__(self) -> str:
        given = {
            "tracer_provider": self._tracer_provider,
            "meter_provider": self._meter_provider,
            "capture_content": self._capture_content,
            "extra_attributes": list(self._extra_attributes) or None,
        }
        shown = (f"{name}={value!r}" for name, value in given.items() if value is not None)
        return f"OpenTelemetry({', '.join(shown)})"

    def __reduce__(self) -> tuple[Any, ...]:
        if self._tracer_provider is not None or self._meter_provider is not None:
            raise TypeError(
                "OpenTelemetry with providers of its own belongs to its process; set the global "
                "providers in the other process and use `OpenTelemetry()`"
            )
        return _unpickled, (self._capture_content, self._extra_attributes)

    def batch_started(self, batch: StartedBatch) -> TracedBatch | MeasuredBatch | None:
        """What observes this batch; `None` if neither spans nor metrics go anywhere."""
        tracer, instruments = self._tracer(), self._meters()
        if tracer is None:
            return None if instruments is None else MeasuredBatch(instruments, self._guarded)
        captures = self._capture_content
        return TracedBatch(
            tracer,
            instruments,
            batch,
            self._guarded,
            captures_content=captures_content() if captures is None else captures,
            extra_attributes=self._extra_attributes,
        )

    def is_idle(self) -> bool:
        """Whether surely nothing is reported: no global provider is set, and none was given.

        The API's own variables answer in a tenth of the time; `False` where they do not exist.
        """
        return (
            self._tracer_provider is None
            and self._meter_provider is None
            and getattr(self._trace, "_TRACER_PROVIDER", self) is None
            and getattr(self._metrics_state, "_METER_PROVIDER", self) is None
        )

    def _tracer(self) -> Tracer | None:
        provider = self._tracer_provider or self._trace.get_tracer_provider()
        known, tracer = self._tracers
        if provider is not known:
            tracer = None
            if _reports(provider):
                made = provider.get_tracer("ethos_registry", __version__)
                tracer = None if isinstance(made, self._trace.NoOpTracer) else made
            self._tracers = provider, tracer
        return tracer

    def _meters(self) -> Instruments | None:
        provider = self._meter_provider or self._metrics.get_meter_provider()
        known, instruments = self._instruments
        if provider is not known:
            instruments = None
            if _reports(provider):
                meter = provider.get_meter("ethos_registry", __version__)
                instruments = (
                    None if isinstance(meter, self._metrics.NoOpMeter) else Instruments(meter)
                )
            self._instruments = provider, instruments
        return instruments

    def _guarded(self, what: str, function: Callable[..., None]) -> Callable[..., None]:
        """The function; what it raises, as a processor or an exporter may, is logged once."""

        def call(*arguments: Any) -> None:
            try:
                function(*arguments)
            except KeyboardInterrupt:
                raise
            except BaseException as error:
                if what in self._logged:
                    return
                self._logged.add(what)
                message = f"{what} raised; later exceptions are not logged"
                log_exception(_logger, logging.WARNING, message, error, _core.redact)

        return call


def _unpickled(
    capture_content: bool | None, extra_attributes: tuple[AttributeSource, ...]
) -> OpenTelemetry:
    return OpenTelemetry(capture_content=capture_content, extra_attributes=extra_attributes)


def _reports(provider: object) -> bool:
    return not type(provider).__module__.startswith(_API_MODULES)


def _check_provider(provider: object, name: str, method: str) -> None:
    if provider is not None and not callable(getattr(provider, method, None)):
        raise ConfigError(f"`{name}` must have `{method}`, got {type(provider).__name__}")


def _sources(given: AttributeSource | Iterable[AttributeSource]) -> tuple[AttributeSource, ...]:
    sources = (given,) if callable(given) else tuple(given)
    for source in sources:
        check_callback(source, "extra_attributes", "traced")
    return sources
