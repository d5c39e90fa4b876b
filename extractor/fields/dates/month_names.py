"""Month names in the languages of the web (nominative, genitive, abbreviated), in lower case."""

import unicodedata

from extractor.fields.dates.cldr_months import CLDR_ROWS

# Names that the CLDR lacks: abbreviations in the Latin script, other spellings, the genitive of Basque. One row per
# month. All rows have the same order of languages: English, German, French, Spanish, Portuguese, Italian, Catalan,
# Romanian, Dutch, Scandinavian, Polish, Czech and Slovak, Croatian, Slovene, Hungarian, Turkish, Icelandic, Albanian,
# Filipino, Azerbaijani, Arabic, Hebrew, Hindi and Bengali, Basque, spoken Greek. A few names mean two months
# (listopada); they have the month of the language with more pages (see MONTHS_AFTER_DAY_POINT).
EXTRA_ROWS = (
    "jan jänner ene gen ian sty sij januarja oca janv jaan xan yan בינואר जनवरि জানুয়ারি urtarrilaren γενάρης γενάρη",
    "feb feber févr fév fev febr lut velj februarja şub veebr shk peb फ़र בפברואר ফেব্রুয়ারি otsailaren φλεβάρης φλεβάρη",
    "mar mär mrz mrt márc ožu במרץ martxoaren μάρτης μάρτη",
    "apr avr abr kwi tra aprila nis ápr ابريل באפריל apirilaren απρίλης απρίλη",
    "mag maj svi במאי maiatzaren μάης μάη",
    "giu cze junija haz jūn iun qer iyn ביוני ekainaren ιούνης ιούνη",
    "jul juil juill lug lip srp julija tem jūl iul xul korr hul iyl ביולי uztailaren ιούλης ιούλη",
    "aug aou ago sie kol avgusta avg ağu ágú gush agu ogo avq اغسطس באוגוסט abuztuaren αύγουστου αυγ",
    "sep sept set wrz ruj szept eyl sht सित בספטמבר सितम्बर irailaren σεπτέμβρης σεπτέμβρη σεπ",
    "oct okt out ott paź eki اكتوبر अक्टू באוקטובר urriaren οκτώβρης οκτώβρη",
    "nov listopada listopad lis kas nóv nën noy בנובמבר नवम्बर azaroaren νοέμβρης νοέμβρη",
    "dec dez déc dic des gru pro ara dets dhj दिस בדצמבר दिसम्बर abenduaren δεκέμβρης δεκέμβρη",
)


def number_month_names(rows: tuple[str, ...]) -> dict[str, int]:
    """Return the month number (1 to 12) of each name in twelve rows of names."""
    return {name: number for number, row in enumerate(rows, start=1) for name in row.split()}


def strip_accents(name: str) -> str:
    """Return a name without accents, as typed on keyboards without them: décembre, decembre."""
    return "".join(char for char in unicodedata.normalize("NFD", name) if not "\u0300" <= char <= "\u036f")


ALL_NAMES = {**number_month_names(CLDR_ROWS), **number_month_names(EXTRA_ROWS)}
UNACCENTED_NAMES = {
    strip_accents(name): number for name, number in ALL_NAMES.items() if len(name) > 3 and name < "\u0250"
}
MONTH_NAMES = {**UNACCENTED_NAMES, **ALL_NAMES}
# Croatian puts a point after the day; Polish and Czech do not before full names. So 5. listopada is in October, and
# 5 listopada is in November.
MONTHS_AFTER_DAY_POINT = {"lip": 6, "listopada": 10, "listopad": 10, "lis": 10}
