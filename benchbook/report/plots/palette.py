"""One palette for all pages and pictures, light and dark; a colour means the same everywhere.

Pictures are drawn in the light colours. A style sheet maps each to its dark one, so that the same
SVG follows the reader's choice, in a page and alone in its file; programs that know no such
sheets show it as it was drawn.
"""

from __future__ import annotations

# Name -> light, dark. Text reaches 4.5:1 on the paper and on what is shaded, in both.
PAPER, INK, GREY, FAINT = "#ffffff", "#1a1a1a", "#5c5c5c", "#d4d4d4"
WARNING, REGION = "#b3400a", "#e6f1e9"
# Colour-blind safe (after Okabe and Ito, darkened), by the order in which an experiment defines
# its methods: a method has its colour on every page and in every preset.
PALETTE = ("#0068a6", "#8a5a00", "#d0116a", "#33287a", "#7a3300", "#5c0f2e", "#00705a", GREY)
DRAWN = {
    PAPER: "#16181b",
    INK: "#ececec",
    GREY: "#b4b4b4",
    FAINT: "#41464d",
    WARNING: "#ff9d6b",
    REGION: "#24362b",
    **dict(
        zip(
            PALETTE[:-1],
            ("#5cb3e8", "#c79a20", "#ff70b0", "#c9c0ff", "#ffb380", "#ffd6e0", "#3fc79a"),
            strict=True,
        )
    ),
}
# Of pages alone.
WRITTEN = {
    "paper": (PAPER, DRAWN[PAPER]),
    "ink": (INK, DRAWN[INK]),
    "grey": (GREY, DRAWN[GREY]),
    "line": ("#d9d9d9", "#3d434a"),
    "soft": ("#f5f5f3", "#22262b"),
    "region": (REGION, DRAWN[REGION]),
    "link": ("#0a558c", "#7cc0f5"),
    "good": ("#00664d", "#4ecf9f"),
    "bad": ("#a83c00", "#ff9d6b"),
    "open": ("#5e4b00", "#e0c25a"),
    "note": ("#fdf8e3", "#2b2718"),
    "note-edge": ("#a88800", "#c9a400"),
    "bad-note": ("#fdf1ea", "#33231b"),
}
_DARK = "@media screen and (prefers-color-scheme: dark)"


def variable(colour: str) -> str:
    """A colour of pictures as the pages' style sheet has it: `var(--hue-0)`."""
    return f"var(--hue-{PALETTE.index(colour)})" if colour in PALETTE else "var(--ink)"


def page_css() -> str:
    """The variables of the pages' style sheet, and the rules for the pictures in them."""
    hues = {f"hue-{k}": (colour, DRAWN[colour]) for k, colour in enumerate(PALETTE)}
    light, dark = (
        "; ".join(f"--{name}: {pair[k]}" for name, pair in {**WRITTEN, **hues}.items())
        for k in (0, 1)
    )
    return (
        f":root {{ color-scheme: light dark; {light}; }}\n{_DARK} {{ :root {{ {dark}; }} }}\n"
        + (picture_css())
    )


def picture_css() -> str:
    """Rules that turn what was drawn in light colours dark; pixels are turned as a whole."""
    rules = [
        f'[style*="{what}: {light}"]{{{what}:{dark}!important}}'
        for light, dark in DRAWN.items()
        for what in ("fill", "stroke")
    ]
    return f"{_DARK}{{{''.join(rules)}svg image{{filter:invert(1) hue-rotate(180deg)}}}}\n"
