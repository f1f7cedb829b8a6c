"""Make the site's two font files: ``python -m sitetools.fonts [FOLDER]``.

Both are subsets of STIX Two Math (SIL Open Font License), whose TrueType file the package ziamath
carries. ``stix-text.woff2`` sets headings and the wordmark: ASCII and typographic punctuation,
kerned. ``stix-math.woff2`` sets formulas and the labels of figures, and only pages that have some
fetch it. The output is the same on every run: the files are committed, and a diff shows a change.
"""

import argparse
import io
from collections.abc import Callable
from importlib import resources
from pathlib import Path

from fontTools import subset
from fontTools.ttLib import TTFont

FONTS = Path(__file__).parent.parent / "docs" / "assets" / "fonts"

ASCII = "".join(map(chr, range(0x20, 0x7F)))
TEXT = ASCII + "\u00a0\u2013\u2014\u2018\u2019\u201c\u201d\u2026\u2207\u00d7"

RARE_GREEK = {0x1D701, 0x1D704, 0x1D705, 0x1D70A, 0x1D70D, 0x1D710}
ITALIC = [*range(0x1D434, 0x1D455), *range(0x1D456, 0x1D468), 0x210E, 0x1D6E5, 0x1D6F4]
ITALIC += [code for code in range(0x1D6FC, 0x1D717) if code not in RARE_GREEK]
OPERATORS = "\u2212±\u00d7·⋅∘⊙\u22a4∂∇∑∏∫√\u221e\u2208≠≈≡≤≥→←↦⇒⟨⟩\u2016|…⋯⋮\u211d\u2032\u2033"
ACCENTS = "\u00af\u02c6\u0302\u0304\u2015\u203e"
INVISIBLE = "\u2061\u2062\u2063\u00a0\u2009"
MATHS = (
    "".join(c for c in ASCII if c not in '"#$&@_`;?\\%')
    + "\u0393\u0394\u0398\u039b\u03a3\u03a6\u03a8\u03a9"
    + "".join(map(chr, ITALIC))
    + OPERATORS
    + ACCENTS
    + INVISIBLE
)

STRETCHED = "()[]{}|\u2016√∑∏∫⟨⟩→←\u00af\u2015\u203e"
STEPS = {"s1", "s4"}  # of a dozen sizes; beyond them a browser assembles a bracket from its parts


def stix() -> TTFont:
    """Read STIX Two Math from the installed package ziamath."""
    data = (resources.files("ziamath.fonts") / "STIXTwoMath-Regular.ttf").read_bytes()
    return TTFont(io.BytesIO(data), recalcTimestamp=False)


def small_prime(font: TTFont) -> None:
    """Let U+2032 and U+2033 be the large primes on the baseline.

    STIX draws the plain prime already raised, and a browser raises it once more in ``f'``, which
    makes it tiny. The ``ssty`` feature holds the glyph meant for superscripts; keeping the feature
    would double the file, so the character itself is pointed at that glyph.
    """
    for table in font["cmap"].tables:
        for code, glyph in ((0x2032, "minute.ssty"), (0x2033, "second.ssty")):
            if code in table.cmap:
                table.cmap[code] = glyph


def fewer_sizes(font: TTFont) -> None:
    """Keep two stretched sizes of the brackets and roots in use, none of others, and no cut-ins."""
    maths, cmap = font["MATH"].table, font.getBestCmap()
    maths.MathGlyphInfo.MathKernInfo = None
    stretched = {cmap[ord(c)] for c in STRETCHED if ord(c) in cmap}
    variants = maths.MathVariants
    for direction in ("Vert", "Horiz"):
        coverage = getattr(variants, f"{direction}GlyphCoverage")
        constructions = getattr(variants, f"{direction}GlyphConstruction")
        kept = [
            (glyph, construction)
            for glyph, construction in zip(coverage.glyphs, constructions, strict=True)
            if glyph in stretched
        ]
        for _, construction in kept:
            construction.MathGlyphVariantRecord = [
                record
                for record in construction.MathGlyphVariantRecord
                if ".s" not in record.VariantGlyph or record.VariantGlyph.split(".")[1] in STEPS
            ]
            construction.VariantCount = len(construction.MathGlyphVariantRecord)
        coverage.glyphs = [glyph for glyph, _ in kept]
        setattr(variants, f"{direction}GlyphConstruction", [c for _, c in kept])
        setattr(variants, f"{direction}GlyphCount", len(kept))


def woff2(
    characters: str,
    drop: list[str],
    features: list[str],
    before: Callable[[TTFont], None] = lambda font: None,
) -> bytes:
    """Subset STIX Two Math to characters and layout features, packed as WOFF2."""
    font = stix()
    before(font)
    options = subset.Options(
        layout_features=features,
        hinting=False,
        notdef_outline=True,
        name_IDs=[0, 1, 2, 13, 14],
        drop_tables=["DSIG", "GDEF", "GSUB", "gasp", *drop],
    )
    subsetter = subset.Subsetter(options)
    subsetter.populate(text=characters)
    subsetter.subset(font)
    out = io.BytesIO()
    font.flavor = "woff2"
    font.save(out)
    return out.getvalue()


def trimmed(font: TTFont) -> None:
    """Prepare the font for the subset for formulas."""
    small_prime(font)
    fewer_sizes(font)


def main(argv: list[str] | None = None) -> None:
    """Write both files and print their sizes."""
    parser = argparse.ArgumentParser(description="Make the site's two font files.")
    parser.add_argument("folder", nargs="?", type=Path, default=FONTS)
    folder: Path = parser.parse_args(argv).folder
    folder.mkdir(parents=True, exist_ok=True)
    for name, data in {
        "stix-text.woff2": woff2(TEXT, drop=["MATH"], features=["kern"]),
        "stix-math.woff2": woff2(MATHS, drop=["GPOS"], features=[], before=trimmed),
    }.items():
        (folder / name).write_bytes(data)
        print(f"{name}: {len(data)} bytes")


if __name__ == "__main__":
    main()
