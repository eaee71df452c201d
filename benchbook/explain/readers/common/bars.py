"""Lines of tables that are drawn with characters of boxes, as tables of Markdown have them."""

from __future__ import annotations

BARS = "|│┃║┆┊╎"  # what may part the cells of a row
_BARS = str.maketrans(dict.fromkeys(BARS, "|"))
_RULES = str.maketrans(
    dict.fromkeys("─━═╌┄┈", "-")
    | dict.fromkeys("┌┐└┘├┤┬┴┼╔╗╚╝╠╣╦╩╬╒╕╘╛╞╡╤╧╪╟╢╫╭╮╯╰┏┓┗┛┣┫┳┻╋┡┩╇╈╉╊┝┥", "+")
)
_DRAWN = "│┃║─━═┄┈"


def barred(text: str) -> str:
    """The line with `|` between its cells, and `+---+` for a rule."""
    if text.isascii() or not any(mark in text for mark in _DRAWN):
        return text
    plain = text.translate(_BARS).translate(_RULES)
    # A rule within a row is text, and one that is drawn to the edges only is a rule.
    is_rule = not plain.strip("+-| ")
    return plain.replace("|", "+") if is_rule else text.translate(_BARS)
