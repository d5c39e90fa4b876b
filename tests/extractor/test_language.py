"""Language detection."""

import pytest

from domain.article import Article
from extractor import extract
from extractor.fields.language import detect_language


@pytest.mark.parametrize(
    ("text", "language"),
    [
        ("大庆油田今天宣布，今年产量超过去年同期。", "zh"),
        ("大慶油田今天宣布，今年產量超過去年同期。", "zh"),
        ("苹果公司 Apple Inc. 今天发布了 iPhone 15 Pro Max 和 MacBook Air，售价不变。", "zh"),
        ("The company said on Monday that it would sell the business, and the shares rose.", "en"),
        ("The minister “did not” know – he said – that the house was sold…", "en"),
        ("Der Minister sagte, dass er nicht von dem Verkauf der Firma wusste und das ist alles.", "de"),
        ("Le ministre a dit que les ventes de la société sont dans une phase de hausse pour tous.", "fr"),
        ("El ministro dijo que las ventas de los coches en el país no se recuperan por la crisis.", "es"),
        ("Il ministro ha detto che le vendite della società non sono più quelle di una volta.", "it"),
        ("O ministro disse que as vendas da empresa não são mais para os que ficam em casa.", "pt"),
        ("De minister zei dat het bedrijf niet te koop is en dat de aandelen op de beurs stijgen.", "nl"),
        ("Minister powiedział, że firma nie jest na sprzedaż i że akcje się nie zmieniły od roku.", "pl"),
        ("Министр сказал, что компания не продается, и акции выросли.", "ru"),
        ("Міністр сказав, що компанія не продається, її акції зросли.", "uk"),
        ("大臣は、会社は売却されないと述べ、株価は上昇した。", "ja"),
        ("장관은 회사가 매각되지 않을 것이라고 말했다.", "ko"),
        ("قال الوزير إن الشركة ليست للبيع وإن الأسهم ارتفعت.", "ar"),
        ("وزیر گفت که شرکت فروخته نمی‌شود و پیش از این چیزی نگفته بود.", "fa"),
        ("Ο υπουργός είπε ότι η εταιρεία δεν πωλείται.", "el"),
        ("รัฐมนตรีกล่าวว่าบริษัทไม่ได้ขาย", "th"),
        ("השר אמר שהחברה אינה למכירה", "he"),
        ("Short caption here", "en"),
        ("12345 67.8", ""),
        ("……！", ""),
        ("", ""),
    ],
)
def test_detected_languages(text: str, language: str) -> None:
    assert detect_language(text) == language


@pytest.mark.parametrize(
    ("text", "hint", "language"),
    [
        ("Ministri tha se kompania nuk shitet", "sq-AL", "sq"),
        ("大庆油田今天宣布，今年产量超过去年。", "en", "zh"),
        ("Der Minister sagte, dass er nicht von dem Verkauf wusste und das ist alles.", "en", "de"),
        ("Министърът каза, че компанията не се продава.", "bg", "bg"),
        ("Министр сказал, что компания не продается.", "en-US", "ru"),
        ("وزیر نے کہا کہ کمپنی فروخت نہیں ہو رہی", "ur", "ur"),
    ],
)
def test_the_declared_language_decides_within_a_script(text: str, hint: str, language: str) -> None:
    assert detect_language(text, hint) == language


@pytest.mark.parametrize(
    ("text", "hint", "language"),
    [
        ("FREE shipping on orders $59 | $7 shipping on orders under $35 | on sale", "en", "en"),
        ("FREE shipping on orders $59 | $7 shipping on orders under $35 | on sale", "", "en"),
        ("iPhone 15 Pro case by Nomad | iPhone 14 Pro case by Nomad | iPhone 13 Pro case by Nomad", "en", "en"),
        (
            "S.P. 99, by Morse and Company (page images at Trust). S.P. 98, by Fairbanks (page images at Trust)",
            "",
            "en",
        ),
        ("SPI_prepare ( s , v ) ; SPI_execute ( v , s ) ; SPI_finish ( s ) ; return v", "en", "en"),
        ("set det = af ; set det = af ; print det , af", "en", "en"),
        ("systemctl enable --now sshd ; Port on ; PermitRoot on ; Compression on", "", "en"),
        (
            "与 Bahasa Indonesia 相同：set on = on ; on se se se na na ; git checkout -b topic -- path/file.txt",
            "zh",
            "zh",
        ),
    ],
)
def test_a_short_technical_text_is_not_of_a_rare_language(text: str, hint: str, language: str) -> None:
    assert detect_language(text, hint) == language


def test_the_declared_language_wins_in_a_text_of_two_languages() -> None:
    text = "Der Mann hielt die Rede, die für viele sich als Rat mit Wert erwies: the one that is to have the last word"
    assert detect_language(text, "de") == "de"
    assert detect_language(text, "en") == "en"


def test_few_words_are_enough_without_a_declared_language() -> None:
    assert detect_language("Nur für Mitglieder: Zugang zu Kursen und noch mehr") == "de"


ICELANDIC = (
    "Höfnin var opnuð á ný í gær og skipin sigla nú til hafnar með vörur. Hún er lokuð til vors og bærinn hefur "
    "ekki svarað því sem sagt er um málið, en verkinu var frestað og kostnaður er mikill og fer vaxandi."
)
ENGLISH = (
    "The harbour was opened again on Monday, and the ships that have waited are on their way. It is for the mayor to "
    "say what this has cost, as the works were late and the budget of the town was not what it is in this report."
)


@pytest.mark.parametrize(
    ("text", "hint", "language"),
    [(ICELANDIC, "is", "is"), (ICELANDIC, "is-IS", "is"), (ENGLISH, "is", "en"), (ENGLISH, "zh", "en")],
)
def test_a_declared_language_without_a_word_list_wins_over_its_relatives(text: str, hint: str, language: str) -> None:
    assert detect_language(text, hint) == language


CODE = "for name in names:\n    with open(name) as file:\n        do(this, file)  # from the list of names\n" * 12
SQL = "CREATE TABLE wells (id INTEGER PRIMARY KEY, depth NUMERIC NOT NULL, field VARCHAR(40) DEFAULT NULL);\n" * 12


@pytest.mark.parametrize("lang", ["", "zh"])
@pytest.mark.parametrize(("opening", "end"), [("<pre>", "</pre>"), ("<pre><code class=python>", "</code></pre>")])
def test_code_is_no_evidence_of_a_language(lang: str, opening: str, end: str) -> None:
    def language(code: str, *paragraphs: str) -> str:
        text = f"{opening}{code}{end}".join(f"<p>{paragraph}</p>" for paragraph in paragraphs)
        result = extract(
            f"<html lang='{lang}'><title>{paragraphs[0]}</title><body>{text}</body>", "http://a.test/1.html"
        )
        assert isinstance(result, Article)
        return result.language

    chinese = ("首先打开每个文件，并逐行读取其中的名称。", "然后关闭文件，把结果写入另一个表中，供下一步使用。")
    assert language(CODE, *chinese) == "zh"
    assert language(SQL, *chinese) == "zh"
    assert language(SQL, "This statement creates the table of wells.", "The table has three columns.") in ("en", lang)


def test_chinese_with_code_outside_of_code_elements() -> None:
    text = CODE.replace("\n", " ") + "然后关闭文件，把结果写入另一个表中，供下一步使用，并删除临时文件。"
    assert detect_language(text[-1000:], "zh") == "zh"
