"""Tool search in plain Python: the same words, weights and scores as the native index."""

from __future__ import annotations

import json
from collections import Counter
from math import log1p
from pathlib import Path

import regex

ALPHANUMERIC = regex.compile(r"[\p{Alphabetic}\p{N}]")
NUMBER = regex.compile(r"\p{N}+")
SATURATION = 1.4
FIELDS = ("name", "server", "description", "parameter names", "parameter texts", "choices")
WEIGHTS = {
    "name": 4.0,
    "server": 1.6,
    "description": 1.5,
    "parameter names": 1.0,
    "parameter texts": 0.48,
    "choices": 0.4,
}
LENGTH_WEIGHTS = dict(zip(FIELDS, (0.85, 0.2, 0.95, 0.625, 0.36, 0.5), strict=True))
TYPO_WEIGHT, STEP_WEIGHT = 0.6, 0.2
CONJUNCTIONS = {"and", "then", "also", "next", "finally", "plus"}
ENDINGS = (
    ("ization", "ize", 4),
    ("isation", "ize", 4),
    ("ational", "ate", 4),
    ("ation", "ate", 4),
    ("ition", "it", 4),
    ("sion", "s", 4),
    ("tion", "t", 4),
    ("ment", "", 5),
    ("ness", "", 4),
    ("ally", "al", 4),
    ("ly", "", 4),
    ("ing", "", 3),
    ("ed", "", 3),
    ("er", "", 4),
    ("or", "", 4),
    ("al", "", 5),
    ("e", "", 3),
)
NATIVE = Path(__file__).parent.parent / "rust/core/src/tool_search/stem.rs"
STOP_WORDS = set(
    regex.findall(r'"(\w+)"', NATIVE.read_text().partition("STOP_WORDS")[2].partition("];")[0])
)
"""A list is data: there is no second one."""


def plain_words(text: str) -> list[str]:
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
    return ["".join(each.lower() for each in word) for word in found if word]


def words(text: str) -> list[str]:
    return [stem(word) for word in plain_words(text)]


def is_seam(before: str, character: str, after: str) -> bool:
    if not character.isupper():
        return False
    return before.islower() or (before.isupper() and after.islower())


def stem(word: str) -> str:
    if not word.isascii() or len(word) <= 3:
        return word
    if len(word) > 4 and word.endswith("ies"):
        word = word[:-3] + "y"
    elif word.endswith(("sses", "shes", "ches", "xes", "zes")):
        word = word[:-2]
    elif word.endswith("s") and not word.endswith(("ss", "us", "is")):
        word = word[:-1]
    for ending, replacement, fewest in ENDINGS:
        start = word.removesuffix(ending)
        if start == word or len(start) < fewest or not set(start) & set("aeiouy"):
            continue
        word = start + replacement
        if ending in ("ing", "ed", "er") and len(word) > 3 and word[-1] == word[-2] not in "lsz":
            word = word[:-1]
        break
    return word[:-1] if len(word) > 3 and word.endswith("e") else word


def is_one_edit(one: str, other: str) -> bool:
    if one == other:
        return False
    for position in range(max(len(one), len(other))):
        start, rest, there = one[:position], one[position:], other[position:]
        if start != other[:position]:
            break
        if rest[1:] == there[1:] and len(rest) == len(there):
            return True
        if rest[1:] == there or there[1:] == rest:
            return True
        if len(rest) > 1 and rest[1::-1] + rest[2:] == there:
            return True
    return False


def fields_of(text: str) -> dict[str, list[str]]:
    definition = json.loads(text)
    found: dict[str, list[str]] = {field: [] for field in FIELDS}

    def schema(value: object) -> None:
        if isinstance(value, list):
            for item in value:
                schema(item)
        if not isinstance(value, dict):
            return
        for keyword, inner in value.items():
            if keyword == "properties" and isinstance(inner, dict):
                for name, each in inner.items():
                    found["parameter names"] += words(name)
                    schema(each)
            elif keyword in ("description", "title", "const") and isinstance(inner, str):
                found["parameter texts"] += words(inner)
            elif keyword == "enum" and isinstance(inner, list):
                for choice in inner:
                    if isinstance(choice, str):
                        found["choices"] += words(choice)
            elif keyword not in ("default", "examples", "enum", "const", "required"):
                schema(inner)

    name = definition["name"]
    if name.startswith("mcp__") and "__" in name[5:]:
        server, _, name = name[5:].partition("__")
        found["server"] += words(server)
    found["name"] += words(name)
    found["description"] += words(definition["description"])
    schema(definition["parameters"])
    return found


def steps_of(query: str) -> list[list[str]]:
    found: list[list[str]] = [[]]
    for piece in query.split():
        for word in plain_words(piece):
            if word in CONJUNCTIONS:
                found.append([])
            else:
                found[-1].append(word)
        if piece.endswith((".", ",", ";", ":", "!", "?")):
            found.append([])
    return found


def find(texts: list[str], query: str, limit: int) -> list[tuple[int, float]]:
    every = [fields_of(text) for text in texts]
    averages = {
        field: max(sum(len(each[field]) for each in every) / max(len(every), 1), 0.1)
        for field in FIELDS
    }
    weights: list[Counter[str]] = []
    for each in every:
        found: Counter[str] = Counter()
        for field in FIELDS:
            discount = LENGTH_WEIGHTS[field]
            relative = len(each[field]) / averages[field]
            factor = WEIGHTS[field] / (1.0 - discount + discount * relative)
            for word, count in Counter(each[field]).items():
                found[word] += count * factor  # type: ignore[assignment]
        weights.append(found)
    frequency = Counter(word for each in weights for word in each)

    def corrected(word: str) -> str | None:
        if len(word) < 5:
            return None
        near = [each for each in frequency if each[0] == word[0] and is_one_edit(word, each)]
        return min(near, key=lambda each: (-frequency[each], each.encode()), default=None)

    def known(asked: list[str]) -> dict[str, float]:
        found: dict[str, float] = {}
        for word in map(stem, asked):
            match = word if word in frequency else corrected(word)
            if match is not None:
                weight = 1.0 if match == word else TYPO_WEIGHT
                found[match] = max(found.get(match, 0), weight)
                if len(found) >= 64:
                    break
        return found

    def query_words(asked: list[str]) -> dict[str, float]:
        telling = [w for w in asked if w not in STOP_WORDS and not NUMBER.fullmatch(w)]
        return known(telling) or known(asked)

    def scores_of(asked: dict[str, float]) -> list[float]:
        scores = [0.0] * len(texts)
        for word in sorted(asked, key=str.encode):
            holders = frequency[word]
            rarity = log1p((len(texts) - holders + 0.5) / (holders + 0.5)) * asked[word]
            for position, each in enumerate(weights):
                if word in each:
                    weight = each[word]
                    scores[position] += rarity * weight * (SATURATION + 1.0) / (weight + SATURATION)
        return scores

    scores = scores_of(query_words(plain_words(query)))
    asked = [query_words(step) for step in steps_of(query)]
    steps = [
        scores_of(each) for each in asked if sum(weight >= 1 for weight in each.values()) >= 2
    ][:12]
    best = max((score for step in steps for score in step), default=0.0)
    if len(steps) >= 2 and best > 0:
        highest = max(scores)
        scores = [
            (1.0 - STEP_WEIGHT) * score
            + STEP_WEIGHT * (max(step[position] for step in steps) / best * highest)
            for position, score in enumerate(scores)
        ]
    ranked = sorted(range(len(texts)), key=lambda position: (-scores[position], position))
    return [(position, scores[position]) for position in ranked if scores[position] > 0][:limit]
