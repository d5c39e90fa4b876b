"""The term miners that `benchmarks.terms` compares, each as a function (texts, language) -> terms, best first.

A peer is imported only when it is created, because it is installed in .venv-peers-terms. Each is set up as its
documentation recommends. Peers that rank the words of one text get the documents one by one, and the score of a term is
the sum of its scores.
"""

from collections import defaultdict
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path

from benchmarks.terms_texts import TextFile

Mine = Callable[[Iterable[str], str], list[str]]
KEPT = 60  # phrases asked of a peer for one document


@dataclass(frozen=True)
class System:
    """One system. `make` imports and sets it up; its argument is the folder of a model, if one is used."""

    name: str
    make: Callable[[Path | None], Mine]
    languages: tuple[str, ...] = ("zh", "en")
    is_ours: bool = False


def ours(model: Path | None) -> Mine:
    """Our miner: every row of the table ranked, however unlikely."""
    from benchmarks import terms_models as in_memory
    from lexicon.model import term_model as learned

    models = learned.load_shipped_models()
    if model:
        trained = learned.load_model(model)
        models = {**models, trained.boundary_model.language: trained}

    def run(texts: Iterable[str], language: str) -> list[str]:
        table = in_memory.count_in_memory(texts, models)
        rows, _ = learned.rank_rows(models, in_memory.select_from_table(table, models))
        return list(learned.iter_spellings(in_memory.counted_corpus(table), rows))

    return run


def as_shipped(_: Path | None) -> Mine:
    """Our miner with the default settings, as in `plumb`: all sufficiently frequent and likely candidates."""
    from lexicon.counting.corpus import InMemoryCorpus
    from lexicon.mining import mine_terms
    from lexicon.settings import LexiconSettings

    settings = LexiconSettings(depth=0)

    def run(texts: Iterable[str], language: str) -> list[str]:
        documents = texts if isinstance(texts, TextFile) else InMemoryCorpus(("", text) for text in texts)
        return [term.text for term in mine_terms(documents, settings)]

    return run


def by_rules(rules: str) -> Callable[[Path | None], Mine]:
    """The paper's C-value with these rules, all candidates ranked."""

    def make(_: Path | None) -> Mine:
        from lexicon.counting.corpus import InMemoryCorpus
        from lexicon.mining import mine_terms
        from lexicon.settings import LexiconSettings

        settings = LexiconSettings(
            scorer="c_value", rules=rules, threshold=-1e9, min_frequency=1, max_contexts=1, depth=0
        )
        return lambda texts, language: [
            term.text for term in mine_terms(InMemoryCorpus(("", text) for text in texts), settings)
        ]

    return make


def summed(phrases_of: Callable[[str], Iterable[tuple[str, float]]], texts: Iterable[str]) -> list[str]:
    """Rank the phrases of all documents by the sum of their scores."""
    scores: defaultdict[str, float] = defaultdict(float)
    for text in texts:
        for phrase, score in phrases_of(text):
            scores[phrase] += score
    return sorted(scores, key=lambda phrase: (-scores[phrase], phrase))


def jieba_analyse(method: str) -> Callable[[Path | None], Mine]:
    """https://github.com/fxsjy/jieba: extract_tags or textrank."""

    def make(_: Path | None) -> Mine:
        function = getattr(import_module("jieba.analyse"), method)
        return lambda texts, language: summed(lambda text: function(text, topK=KEPT, withWeight=True), texts)

    return make


def yake(_: Path | None) -> Mine:
    """https://github.com/INESCTEC/yake; Chinese text has blanks between jieba's words. Low scores are good."""
    extractor, jieba = import_module("yake").KeywordExtractor, import_module("jieba")

    def run(texts: Iterable[str], language: str) -> list[str]:
        made = extractor(lan=language, n=3, top=KEPT)

        def phrases(text: str) -> Iterable[tuple[str, float]]:
            words = " ".join(jieba.cut(text)) if language == "zh" else text
            found = made.extract_keywords(words)
            return [(join(phrase, language), 1 / (0.01 + score)) for phrase, score in found]

        return summed(phrases, texts)

    return run


def join(phrase: str, language: str) -> str:
    """Return a phrase in its usual spelling."""
    return phrase.replace(" ", "") if language == "zh" else phrase


def jionlp(_: Path | None) -> Mine:
    """https://github.com/dongrixinyu/JioNLP: key phrases of a text, in their order."""
    extract = import_module("jionlp").keyphrase.extract_keyphrase

    def phrases(text: str) -> Iterable[tuple[str, float]]:
        return [(phrase, 1.0) for phrase in extract(text, top_k=KEPT)] if text.strip() else []

    return lambda texts, language: summed(phrases, texts)


OURS = "plumbline"
UNSEEN = "plumbline-unseen"
SHIPPED = "plumbline-default"
SYSTEMS = {
    system.name: system
    for system in (
        System(OURS, ours, is_ours=True),
        System(UNSEEN, ours, is_ours=True),
        System(SHIPPED, as_shipped, is_ours=True),
        System("c_value", by_rules("improved"), is_ours=True),
        System("c_value_plain", by_rules("plain"), is_ours=True),
        System("jieba_tfidf", jieba_analyse("extract_tags"), ("zh",), is_ours=True),
        System("jieba_textrank", jieba_analyse("textrank"), ("zh",), is_ours=True),
        System("yake", yake),
        System("jionlp", jionlp, ("zh",)),
    )
}
TRAINED = [system.name for system in SYSTEMS.values() if system.is_ours and system.name != UNSEEN]
"""Systems that need no training and no other environment."""
