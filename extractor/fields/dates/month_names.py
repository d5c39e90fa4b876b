"""Names of the months in the languages of the web, nominative, genitive and short, in lower case."""

import unicodedata

from extractor.fields.dates.cldr_months import CLDR_ROWS

# What the CLDR lacks: short names in the Latin script, other spellings, the genitive of Basque. One row a month; the
# languages stand in the same order in every row: English, German, French, Spanish, Portuguese, Italian, Catalan,
# Romanian, Dutch, Scandinavian, Polish, Czech and Slovak, Croatian, Slovene, Hungarian, Turkish, Icelandic, Albanian,
# Filipino, Azerbaijani, Arabic, Hebrew, Hindi and Bengali, Basque. The few names that mean two months (listopada) stand
# where the larger web has them: see AFTER_A_POINT.
EXTRA_ROWS = (
    "jan jänner ene gen ian sty sij januarja oca janv jaan xan yan בינואר जनवरि জানুয়ারি urtarrilaren",
    "feb feber févr fév fev febr lut velj februarja şub veebr shk peb फ़र בפברואר ফেব্রুয়ারি otsailaren",
    "mar mär mrz mrt márc ožu במרץ martxoaren",
    "apr avr abr kwi tra aprila nis ápr ابريل באפריל apirilaren",
    "mag maj svi במאי maiatzaren",
    "giu cze junija haz jūn iun qer iyn ביוני ekainaren",
    "jul juil juill lug lip srp julija tem jūl iul xul korr hul iyl ביולי uztailaren",
    "aug aou ago sie kol avgusta avg ağu ágú gush agu ogo avq اغسطس באוגוסט abuztuaren",
    "sep sept set wrz ruj szept eyl sht सित בספטמבר सितम्बर irailaren",
    "oct okt out ott paź eki اكتوبر अक्टू באוקטובר urriaren",
    "nov listopada listopad lis kas nóv nën noy בנובמבר नवम्बर azaroaren",
    "dec dez déc dic des gru pro ara dets dhj दिस בדצמבר दिसम्बर abenduaren",
)


def months_by_name(rows: tuple[str, ...]) -> dict[str, int]:
    """The number of the month for each name in rows of them."""
    return {name: number for number, row in enumerate(rows, start=1) for name in row.split()}


def without_accents(name: str) -> str:
    """A name as people type it who have no accents: décembre, decembre."""
    return "".join(char for char in unicodedata.normalize("NFD", name) if not "\u0300" <= char <= "\u036f")


ALL_NAMES = {**months_by_name(CLDR_ROWS), **months_by_name(EXTRA_ROWS)}
UNACCENTED_NAMES = {
    without_accents(name): number for name, number in ALL_NAMES.items() if len(name) > 3 and name < "\u0250"
}
MONTH_NAMES = {**UNACCENTED_NAMES, **ALL_NAMES}
# Croats write a point behind the day, Poles and Czechs in full do not: 5. listopada is in October, 5 listopada later.
MONTHS_AFTER_DAY_POINT = {"lip": 6, "listopada": 10, "listopad": 10, "lis": 10}
