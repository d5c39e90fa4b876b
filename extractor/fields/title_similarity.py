"""Similarity of two titles (WD-A3)."""

MAX_COMPARED_CHARS = 200  # beginning of each text that is compared


class TextComparer:
    """Compares one text with many others; the character positions of the text are computed only once."""

    def __init__(self, text: str) -> None:
        self.text = normalize_text(text)
        self.char_positions = char_position_bits(self.text)

    def similarity(self, other: str, min_similarity: float = 0.0) -> float:
        """Return the length of the longest common subsequence divided by the longer length, 0 to 1.

        Returns 0 if one text is empty or at least three times as long as the other. Also returns 0 if the lengths or
        the common characters show that `min_similarity` cannot be reached.
        """
        if len(other) < min_similarity * len(self.text):  # normalization only shortens the text
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
    """Return the part of a text that is compared: lower case, white space collapsed, at most MAX_COMPARED_CHARS."""
    return " ".join(text[: MAX_COMPARED_CHARS * 2].split())[:MAX_COMPARED_CHARS].lower()


def char_position_bits(text: str) -> dict[str, int]:
    """Return for each character the positions at which it occurs, as bits of an integer."""
    char_positions: dict[str, int] = {}
    for position, char in enumerate(text):
        char_positions[char] = char_positions.get(char, 0) | 1 << position
    return char_positions


def lcs_length(char_positions: dict[str, int], length: int, other: str) -> int:
    """Return the length of the longest common subsequence, by bit-parallel computation (Hyyrö 2004).

    The time is linear in practice.

    Args:
        char_positions: The `char_position_bits` of the first text.
        length: Length of the first text.
        other: The second text.
    """
    full = (1 << length) - 1
    row = full
    for char in other:
        if char in char_positions:  # otherwise the row does not change
            match = row & char_positions[char]
            row = ((row + match) | (row - match)) & full
    return length - row.bit_count()


def lcs_length_of_texts(first: str, second: str) -> int:
    """Return the length of the longest common subsequence of two texts."""
    return lcs_length(char_position_bits(first), len(first), second)


def similarity(first: str, second: str, min_similarity: float = 0.0) -> float:
    """Return the similarity of two texts (see `TextComparer.similarity`); it is symmetric."""
    return TextComparer(second).similarity(first, min_similarity)
