"""How alike two titles are (WD-A3, METHODS 1.5)."""

MAX_COMPARED_CHARS = 200  # characters of each string that are looked at


class TextComparer:
    """A text that many others are compared with: what its characters need is counted once."""

    def __init__(self, text: str) -> None:
        self.text = normalize_text(text)
        self.char_positions = char_position_bits(self.text)

    def similarity(self, other: str, min_similarity: float = 0.0) -> float:
        """LCS / longer length, 0 to 1; 0 if one text is three times as long as the other, or empty.

        0 too where the lengths, or the characters that both have, show that `min_similarity` cannot be reached.
        """
        if len(other) < min_similarity * len(self.text):  # white space collapsed can but be shorter
            return 0.0
        other = normalize_text(other)
        if other == self.text:
            return float(bool(other))
        shorter, longer = sorted((len(self.text), len(other)))
        if shorter == 0 or longer >= 3 * shorter or shorter < min_similarity * longer:
            return 0.0
        if min_similarity and sum(map(self.char_positions.__contains__, other)) < min_similarity * longer:
            return 0.0
        return lcs_length(self.char_positions, len(self.text), other) / longer


def normalize_text(text: str) -> str:
    """The part of a text that is compared: lower case, white space collapsed."""
    return " ".join(text[: MAX_COMPARED_CHARS * 2].split())[:MAX_COMPARED_CHARS].lower()


def char_position_bits(text: str) -> dict[str, int]:
    """For each character the places where it stands, as bits."""
    char_positions: dict[str, int] = {}
    for position, char in enumerate(text):
        char_positions[char] = char_positions.get(char, 0) | 1 << position
    return char_positions


def lcs_length(char_positions: dict[str, int], length: int, second: str) -> int:
    """Length of the longest common subsequence, by bit-parallel counting (Hyyrö 2004): linear in practice.

    `char_positions` are the `char_position_bits` the first text, `length` its length.
    """
    full = (1 << length) - 1
    row = full
    for char in second:
        if char in char_positions:  # else the row stays as it is
            match = row & char_positions[char]
            row = ((row + match) | (row - match)) & full
    return length - row.bit_count()


def lcs_length_of(first: str, second: str) -> int:
    """Length of the longest common subsequence of two texts."""
    return lcs_length(char_position_bits(first), len(first), second)


def similarity(first: str, second: str, min_similarity: float = 0.0) -> float:
    """The likeness of two texts (see `TextComparer.similarity`); it is the same both ways."""
    return TextComparer(second).similarity(first, min_similarity)
