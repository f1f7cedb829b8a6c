"""The numbers of a page: what its prose says in digits, a block, an output or a generated file of the page holds.

Numbers are compared by value: `50` is held where `50.0` is printed, `10⁷` and `10k` where `1e7` and `10_000` stand.
A number with a unit wants the unit beside it, too.
"""

import itertools
import math
import re
from collections.abc import Callable, Iterator
from pathlib import Path

from mkdocs.utils import meta

from sitetools import pages
from sitetools.rendered import Node, Problems, prose, render, start, where

DIGITS = (
    r"(?<!\w)(?<![A-Za-z]-)"  # the digits of a name are none: float32, ResNet-50
    r"(?:(?<![\w.)\]])[-−])?(?:(?:\d{1,3}(?:,\d{3})+(?![\d,])|\d[\d_]*)(?:\.\d+)?|\.\d+)"
    r"(?:e[-+]?\d+|\^\d+|[⁰¹²³⁴-⁹⁻]+|[kM](?!\w))?"
)
NUMBER = re.compile(DIGITS)
POWER = str.maketrans("⁰¹²³⁴⁵⁶⁷⁸⁹⁻", "0123456789-")

NUMERALS = (
    "one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen seventeen "
    "eighteen nineteen twenty thirty forty fifty sixty seventy eighty ninety dozen hundred thousand million billion"
)
VALUES = [*range(1, 21), *range(30, 100, 10), 12, 100, 10**3, 10**6, 10**9]
WORDS = dict(zip(NUMERALS.split(), VALUES, strict=True))
WORD = "(?:" + "|".join(sorted(WORDS, key=len, reverse=True)) + ")"

SPELT = re.compile(rf"(?<![\w-]){WORD}(?:[\s-](?:and\s)?{WORD})*(?!\w)", re.IGNORECASE)

UNITS = {
    "rate": r"[kMGT]?i?B/s|(?:\w+)?bytes (?:per|a) second", "bit": r"bits?", "byte": r"bytes?|(?-i:B)",
    "kilobyte": r"ki?B|(?:kilo|kibi)bytes?", "megabyte": r"Mi?B|(?:mega|mebi)bytes?",
    "gigabyte": r"Gi?B|(?:giga|gibi)bytes?", "terabyte": r"Ti?B|(?:tera|tebi)bytes?",
    "nanosecond": r"ns|nanoseconds?", "microsecond": r"[µμu]s|microseconds?", "millisecond": r"ms|milliseconds?",
    "second": r"(?-i:s)|secs?|seconds?", "minute": r"min|minutes?", "hour": r"(?-i:h)|hours?", "day": r"days?",
    "percent": r"%|per ?cent|percentage points?", "per mille": r"‰|per mille", "pixel": r"px",
    "operation": r"[kMGTP]?FLOPs?(?:/s)?", "times": r"(?:×|(?<=\d)(?-i:x))(?!\s?(?:\d|[b-z]\b))|times(?!\s\d)|-?fold",
}  # fmt: skip
AMBIGUOUS = re.compile(r"×|x|s|h|min|times|bit|second|day", re.IGNORECASE)
"""Units that are other words, too: they are units after digits alone, as in '4 times', and without a hyphen."""
COMPARED = re.compile(
    r"(?<=times) (?:as|more|less|faster|slower|larger|smaller|longer|shorter|higher|lower)\b"
)
UNIT = "|".join(f"(?:{unit})" for unit in UNITS.values())
QUANTITY = re.compile(
    rf"(?:(?P<digits>{DIGITS})|(?<![\w-])(?P<words>{WORD}(?:[\s-](?:and\s)?{WORD})*))"
    rf"(?P<gap>[\s-]?)(?P<unit>{UNIT})(?!\w)",
    re.IGNORECASE,
)

ADDRESSES = re.compile(
    r"\S+://\S+|\b(?:arXiv|doi):?\s?[\d.]+\S*|#\d+\b|\b(?:19|20)\d\ds\b", re.IGNORECASE
)
NAMED = re.compile(
    r"\b(?:torch|PyTorch|Python|customgrad|MkDocs|GNU make|Material|CUDA|NumPy)(?: [≥>=]+)? \d+(?:\.\d+)*|"
    r"\b[Ss]teps? \d(?: and \d)?|\b\d+\.\d+\.\d+\b|\b\d{4}-\d\d-\d\d\b|"
    r"(?:\b[Ss]ection|\b[Ee]quation|\b[Ff]igure|\b[Tt]able|\b[Tt]heorem|\b[Aa]lgorithm|§) ?\d+(?:\.\d+)*|"
    r"\b(?:19[89]|20[0-2])\d\b(?! \w+s\b)"
)
"""Numbers that are names: versions, steps, dates and years, places in a source."""


def value(number: str) -> float:
    """Return what a number in digits is worth."""
    number = re.sub(r"[,_]", "", number).replace("−", "-")
    base = re.match(r"-?[\d.]+(?:e[-+]?\d+)?", number, re.IGNORECASE)
    assert base is not None
    rest = number[base.end() :].lower()
    if rest in {"k", "m"}:
        return float(base[0]) * {"k": 1e3, "m": 1e6}[rest]
    return math.pow(float(base[0]), float(rest.lstrip("^").translate(POWER) or 1))


def counted(words: str) -> float:
    """Return what a number in words is worth: 'twenty-five', 'two hundred'."""
    total = last = 0
    for number in (WORDS[word] for word in re.findall(r"[a-z]+", words.lower()) if word != "and"):
        if number in {12, 100} and last:
            last *= number
        elif number >= 1000:
            total, last = total + max(last, 1) * number, 0
        else:
            last += number
    return float(total + last)


def values(text: str) -> set[float]:
    """Return the values of all numbers in a text; a number with a sign is held without it, too."""
    found = {value(number) for number in NUMBER.findall(text)}
    for several in re.findall(r"\d+(?:,\d+)+", text):  # or it is a list
        found |= {float(number) for number in several.split(",")}
    return found | {abs(number) for number in found}


def held(page: Path, text: str) -> list[str]:
    """Return what a page's numbers may be taken from, an output or a generated file each."""
    found = ["\n".join(f.body) for f in pages.fences(page, text) if f.language == "text"]
    for _, line in pages.outside(page, text):
        if (match := pages.SNIPPET.match(line)) and match["target"].startswith("docs/generated/"):
            source = pages.ROOT / match["target"].partition(":")[0]
            drawn = source.read_text(encoding="utf-8") if source.is_file() else ""
            found.append(" ".join(re.sub(r"<[^>]*>", " ", drawn).split()))
    return found


def said(text: str) -> Iterator[tuple[Node | None, str]]:
    """Yield what a page says, its front matter included, without the digits of addresses."""
    _, front = meta.get_data(text)
    for name in ("title", "description"):
        yield None, ADDRESSES.sub(" ", str(front.get(name, "")))
    for node, words in prose(render(text).root):
        yield node, ADDRESSES.sub(" ", words)


def quantities(page: Path, text: str) -> Problems:
    """Find numbers with a unit, in prose, tables, captions and alt texts, that nothing on the page holds."""
    outputs = held(page, text)
    for node, words in said(text):
        for match in QUANTITY.finditer(words):
            doubtful = AMBIGUOUS.fullmatch(match["unit"]) and (
                match["words"] or match["gap"] == "-"
            )
            if COMPARED.match(words, match.end()):
                doubtful = False
            if doubtful or (match["words"] and len(match["unit"]) < 4):
                continue
            number = value(match["digits"]) if match["digits"] else counted(match["words"])
            span = match.span("unit")
            unit = next(
                u for u in UNITS.values() if re.compile(u, re.IGNORECASE).fullmatch(words, *span)
            )
            if not any(beside(output, number, unit) for output in outputs):
                amount = match["digits"] or match["words"]
                at = where(page, text, match[0], f"{amount} ", start(node) if node else "")
                yield f"{at}: no output of this page holds '{match[0]}'; print it, or say it without"


def beside(output: str, number: float, unit: str) -> bool:
    """Return whether an output has the number, and the unit on the same line or in its first two."""
    unit = rf"(?<![A-Za-z])(?:{unit})(?![A-Za-z])"
    lines = output.splitlines()
    head = "\n".join(lines[:2])
    return any(
        number in values(line) and re.search(unit, f"{head}\n{line}", re.IGNORECASE)
        for line in lines
    )


def numbers(page: Path, text: str) -> Problems:
    """Find numbers, in code and formulas, too, that no block, output or generated file of the page holds."""
    known = values("\n".join(held(page, text)))
    fences = pages.fences(page, text)
    near = []
    for fence, after in itertools.zip_longest(fences, fences[1:]):
        try:
            near.append(values(fence.code()))
        except LookupError:
            near.append(set())
        known |= near[-1]
        if after and after.language == "text":
            near[-1] |= values("\n".join(after.body))
    for node, words in said(text):
        for match in SPELT.finditer(words):
            if counted(match[0]) > 12 and counted(match[0]) not in known:
                yield f"{where(page, text, match[0])}: nothing on this page holds the number {match[0]}"
        if node and node.has("title"):  # of a fence, see below
            continue
        for match in NUMBER.finditer(NAMED.sub(" ", words)):
            if value(match[0]) not in known:
                at = where(page, text, match[0], start(node) if node else "")
                yield f"{at}: nothing on this page holds the number {match[0]}: …{words[:60]}…"
    for fence, around in zip(fences, near, strict=True):
        title = re.search(r'title="([^"]*)"', fence.info)
        for match in NUMBER.finditer(title[1] if title else ""):
            if value(match[0]) not in around:
                yield f"{fence.where}: neither the block nor its output holds the number {match[0]} of its title"


CHECKS: tuple[Callable[[Path, str], Problems], ...] = (quantities, numbers)
