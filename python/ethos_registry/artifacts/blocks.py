"""The content blocks that a result carried beside its text, kept with its artifact."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import NamedTuple, TypeAlias

from ethos_registry.artifacts.content import Content
from ethos_registry.contract.content import Audio, ContentBlock, Document, Image, Link

__all__ = ["KeptBlock", "block_bytes", "kept_blocks"]


class KeptData(NamedTuple):
    """An image, a document or audio, without its data."""

    make: type[Image | Document | Audio]
    media_type: str
    name: str | None
    content: Content

    def read(self) -> ContentBlock:
        """The block; raises `ArtifactGoneError` once its data was removed."""
        data = self.content.read(0, self.content.size_bytes)
        return self.make(data, self.media_type, self.name)

    def remove(self) -> None:
        """Remove the data."""
        self.content.remove()


class KeptLink(NamedTuple):
    """A link, which has no data to remove."""

    link: Link

    def read(self) -> ContentBlock:
        """The link."""
        return self.link

    def remove(self) -> None:
        """Nothing."""


KeptBlock: TypeAlias = KeptData | KeptLink


def kept_blocks(
    blocks: Iterable[ContentBlock], keep: Callable[[bytes], Content]
) -> tuple[KeptBlock, ...]:
    """The blocks, their data stored by `keep`; nothing is stored if that raises."""
    stored: list[KeptBlock] = []
    try:
        for block in blocks:
            if isinstance(block, Link):
                stored.append(KeptLink(block))
            else:
                content = keep(block.data_bytes)
                stored.append(KeptData(type(block), block.media_type, block.name, content))
    except BaseException:
        for each in stored:
            each.remove()
        raise
    return tuple(stored)


def block_bytes(blocks: Iterable[ContentBlock]) -> int:
    """The size of their data."""
    return sum(0 if isinstance(block, Link) else len(block.data_bytes) for block in blocks)
