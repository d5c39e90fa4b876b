"""Language detection."""

import pytest

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
