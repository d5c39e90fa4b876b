"""How alike two titles are (WD-A3, METHODS 1.5)."""

LONGEST = 200  # characters of each string that are looked at


def lcs(first: str, second: str) -> int:
    """Length of the longest common subsequence, by bit-parallel counting (Hyyrö 2004): linear in practice."""
    where: dict[str, int] = {}
    for place, char in enumerate(first):
        where[char] = where.get(char, 0) | 1 << place
    full = (1 << len(first)) - 1
    row = full
    for char in second:
        match = row & where.get(char, 0)
        row = ((row + match) | (row - match)) & full
    return len(first) - row.bit_count()


def similarity(first: str, second: str, least: float = 0.0) -> float:
    """LCS / longer length, 0 to 1; 0 if one string is three times as long as the other, or empty.

    0 too where the lengths alone say that `least` cannot be reached.
    """
    a, b = (" ".join(text[: LONGEST * 2].split())[:LONGEST].lower() for text in (first, second))
    shorter, longer = sorted((len(a), len(b)))
    if shorter == 0 or longer >= 3 * shorter or shorter < least * longer:
        return 0.0
    return lcs(a, b) / longer
