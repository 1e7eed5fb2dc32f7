"""Tool search in plain Python: the same words, weights and scores as the native index."""

from __future__ import annotations

import json
import math
from collections import Counter

import regex

ALPHANUMERIC = regex.compile(r"[\p{Alphabetic}\p{N}]")
SATURATION, LENGTH_WEIGHT = 1.2, 0.75
NAME_WEIGHT, TEXT_WEIGHT = 3, 1


def words(text: str) -> list[str]:
    found: list[str] = []
    word = ""
    for position, character in enumerate(text):
        if not ALPHANUMERIC.match(character):
            found.append(word)
            word = ""
        elif (
            "\u3040" <= character <= "\u30ff"
            or "\u3400" <= character <= "\u4dbf"
            or "\u4e00" <= character <= "\u9fff"
        ):
            found += [word, character]
            word = ""
        else:
            if word and is_seam(word[-1], character, text[position + 1 : position + 2]):
                found.append(word)
                word = ""
            word += character
    found.append(word)
    return [singular("".join(each.lower() for each in word)) for word in found if word]


def is_seam(before: str, character: str, after: str) -> bool:
    if not character.isupper():
        return False
    return before.islower() or (before.isupper() and after.islower())


def singular(word: str) -> str:
    if not word.isascii() or len(word) <= 3:
        return word
    if len(word) > 4 and word.endswith("ies"):
        return word[:-3] + "y"
    if word.endswith("s") and not word.endswith(("ss", "us")):
        return word[:-1]
    return word


def weights_of(text: str) -> Counter[str]:
    definition = json.loads(text)
    weights: Counter[str] = Counter()

    def add(part: str, weight: int = TEXT_WEIGHT) -> None:
        for word in words(part):
            weights[word] += weight

    def schema(value: object) -> None:
        if isinstance(value, list):
            for item in value:
                schema(item)
        if not isinstance(value, dict):
            return
        for keyword, inner in value.items():
            if keyword == "properties" and isinstance(inner, dict):
                for name, each in inner.items():
                    add(name)
                    schema(each)
            elif keyword in ("description", "title", "const") and isinstance(inner, str):
                add(inner)
            elif keyword == "enum" and isinstance(inner, list):
                for choice in inner:
                    if isinstance(choice, str):
                        add(choice)
            elif keyword not in ("default", "examples", "enum", "const", "required"):
                schema(inner)

    add(definition["name"], NAME_WEIGHT)
    add(definition["description"])
    schema(definition["parameters"])
    return weights


def find(texts: list[str], query: str, limit: int) -> list[tuple[int, float]]:
    every = [weights_of(text) for text in texts]
    lengths = [sum(weights.values()) for weights in every]
    average = sum(lengths) / max(len(lengths), 1)
    scores = [0.0] * len(texts)
    for word in sorted(set(words(query)), key=str.encode)[:64]:
        holders = [position for position, weights in enumerate(every) if word in weights]
        if not holders:
            continue
        rarity = math.log1p((len(texts) - len(holders) + 0.5) / (len(holders) + 0.5))
        for position in holders:
            weight = every[position][word]
            relative = lengths[position] / average
            discount = SATURATION * (1.0 - LENGTH_WEIGHT + LENGTH_WEIGHT * relative)
            scores[position] += rarity * (weight * (SATURATION + 1.0)) / (weight + discount)
    ranked = sorted(range(len(texts)), key=lambda position: (-scores[position], position))
    return [(position, scores[position]) for position in ranked if scores[position] > 0][:limit]
