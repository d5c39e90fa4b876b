"""How alike two titles are (WD-A3, METHODS 1.5)."""

LONGEST = 200  # characters of each string that are looked at


class Original:
    """A text that many others are compared with: what its characters need is counted once."""

    def __init__(self, text: str) -> None:
        self.text = folded(text)
        self.where = places_of(self.text)

    def likeness(self, other: str, least: float = 0.0) -> float:
        """LCS / longer length, 0 to 1; 0 if one text is three times as long as the other, or empty.

        0 too where the lengths, or the characters that both have, show that `least` cannot be reached.
        """
        if len(other) < least * len(self.text):  # white space collapsed can but be shorter
            return 0.0
        other = folded(other)
        if other == self.text:
            return float(bool(other))
        shorter, longer = sorted((len(self.text), len(other)))
        if shorter == 0 or longer >= 3 * shorter or shorter < least * longer:
            return 0.0
        if least and sum(map(self.where.__contains__, other)) < least * longer:
            return 0.0
        return common(self.where, len(self.text), other) / longer


def folded(text: str) -> str:
    """The part of a text that is compared: lower case, white space collapsed."""
    return " ".join(text[: LONGEST * 2].split())[:LONGEST].lower()


def places_of(text: str) -> dict[str, int]:
    """For each character the places where it stands, as bits."""
    where: dict[str, int] = {}
    for place, char in enumerate(text):
        where[char] = where.get(char, 0) | 1 << place
    return where


def common(where: dict[str, int], length: int, second: str) -> int:
    """Length of the longest common subsequence, by bit-parallel counting (Hyyrö 2004): linear in practice.

    `where` are the `places_of` the first text, `length` its length.
    """
    full = (1 << length) - 1
    row = full
    for char in second:
        if char in where:  # else the row stays as it is
            match = row & where[char]
            row = ((row + match) | (row - match)) & full
    return length - row.bit_count()


def lcs(first: str, second: str) -> int:
    """Length of the longest common subsequence of two texts."""
    return common(places_of(first), len(first), second)


def similarity(first: str, second: str, least: float = 0.0) -> float:
    """The likeness of two texts (see `Original.likeness`); it is the same both ways."""
    return Original(second).likeness(first, least)
