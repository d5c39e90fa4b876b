"""Names of the months in the languages of the web, nominative, genitive and short, in lower case."""

# One row a month; the languages stand in the same order in every row: English, German, French, Spanish, Portuguese,
# Italian, Catalan, Romanian, Dutch, Scandinavian, Finnish, Polish, Czech and Slovak, Croatian, Slovene, Hungarian,
# Turkish, Russian, Ukrainian, Bulgarian, Serbian, Lithuanian, Latvian, Estonian, Greek, Arabic, Hebrew, Indonesian.
# The few names that mean two months (listopada) stand where the larger web has them.
ROWS = (
    "jan january januar jänner janvier enero ene janeiro gennaio gen gener ianuarie januari tammikuuta tammikuu "
    "stycznia styczeń sty ledna leden januára siječnja sij januarja január ocak oca января январь янв січня януари "
    "јануар sausio janvāris jaanuar ιανουαρίου ιαν يناير ינואר januari",
    "feb february februar feber février févr fév febrero fevereiro fev febbraio febrer februarie februari helmikuuta "
    "helmikuu lutego luty lut února únor februára veljače velj februarja február şubat şub февраля февраль фев "
    "лютого февруари фебруар vasario februāris veebruar φεβρουαρίου φεβ فبراير פברואר",
    "mar march märz mär mrz mars marzo março març martie maart mrt marts maaliskuuta maaliskuu marca marzec března "
    "březen ožujka ožu március mart марта март мар березня kovo μαρτίου μαρ märts مارس מרץ maret",
    "apr april avril avr abril abr aprile aprilie huhtikuuta huhtikuu kwietnia kwiecień kwi dubna duben apríla "
    "travnja tra aprila április nisan nis апреля апрель апр квітня април balandžio aprīlis aprill απριλίου απρ "
    "أبريل ابريل אפריל",
    "may mai mayo maio maggio mag maig mei maj toukokuuta toukokuu maja května květen mája svibnja svi május mayıs "
    "мая май травня мај gegužės maijs μαΐου μαΐ μάι مايو מאי",
    "jun june juni juin junio junho giugno giu juny iunie juni kesäkuuta kesäkuu czerwca czerwiec cze června červen "
    "júna lipnja lip junija június haziran haz июня июнь июн червня юни јун birželio jūnijs juuni ιουνίου ιουν يونيو "
    "יוני",
    "jul july juli juillet juil julio julho luglio lug juliol iulie heinäkuuta heinäkuu lipca lipiec července "
    "červenec júla srpnja srp julija július temmuz tem июля июль июл липня юли јул liepos jūlijs juuli ιουλίου ιουλ "
    "يوليو יולי",
    "aug august août aou agosto ago agost augustus augusti elokuuta elokuu sierpnia sierpień sie srpna srpen augusta "
    "kolovoza kol avgusta augusztus ağustos ağu августа август авг серпня rugpjūčio augusts αυγούστου αυγ أغسطس "
    "اغسطس אוגוסט agustus",
    "sep sept september septembre septiembre setiembre setembro set settembre setembre septembrie syyskuuta syyskuu "
    "września wrzesień wrz září septembra rujna ruj szeptember eylül eyl сентября сентябрь сен сент вересня "
    "септември септембар rugsėjo septembris σεπτεμβρίου σεπ سبتمبر ספטמבר",
    "oct october oktober okt octobre octubre outubro out ottobre ott octombrie lokakuuta lokakuu października "
    "październik paź října říjen októbra oktobra október ekim eki октября октябрь окт жовтня октомври "
    "октобар spalio oktobris oktoober οκτωβρίου οκτ أكتوبر اكتوبر אוקטובר",
    "nov november novembre noviembre novembro noiembrie marraskuuta marraskuu listopada lis listopadu studenoga "
    "novembra kasım kas ноября ноябрь ноя листопада ноември новембар lapkričio novembris νοεμβρίου νοε نوفمبر נובמבר",
    "dec december dezember dez décembre déc diciembre dic dezembro dicembre desembre decembrie desember des "
    "joulukuuta joulukuu grudnia grudzień gru prosince prosinec decembra prosinca pro aralık ara декабря декабрь дек "
    "грудня декември децембар gruodžio decembris detsember δεκεμβρίου δεκ ديسمبر דצמבר desember",
)
MONTH_NAMES = {name: number for number, row in enumerate(ROWS, start=1) for name in row.split()}
