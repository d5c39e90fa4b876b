"""Names of the months in the languages of the web, nominative, genitive and short, in lower case."""

# One row a month; the languages stand in the same order in every row: English, German, French, Spanish, Portuguese,
# Italian, Catalan, Romanian, Dutch, Scandinavian, Finnish, Polish, Czech and Slovak, Croatian, Slovene, Hungarian,
# Turkish, Russian, Ukrainian, Bulgarian, Serbian, Lithuanian, Latvian, Estonian, Greek, Arabic, Hebrew, Indonesian.
# The few names that mean two months (listopada) stand where the larger web has them: see AFTER_A_POINT.
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
    "júna lipnja junija június haziran haz июня июнь июн червня юни јун birželio jūnijs juuni ιουνίου ιουν يونيو "
    "יוני",
    "jul july juli juillet juil juill julio julho luglio lug juliol iulie heinäkuuta heinäkuu lipca lipiec lip "
    "července červenec júla srpnja srp julija július temmuz tem июля июль июл липня юли јул liepos jūlijs juuli "
    "ιουλίου ιουλ يوليو יולי",
    "aug august août aou agosto ago agost augustus augusti elokuuta elokuu sierpnia sierpień sie srpna srpen augusta "
    "kolovoza kol avgusta augusztus ağustos ağu августа август авг серпня rugpjūčio augusts αυγούστου αυγ أغسطس "
    "اغسطس אוגוסט agustus",
    "sep sept september septembre septiembre setiembre setembro set settembre setembre septembrie syyskuuta syyskuu "
    "września wrzesień wrz září septembra rujna ruj szeptember eylül eyl сентября сентябрь сен сент вересня "
    "септември септембар rugsėjo septembris σεπτεμβρίου σεπ سبتمبر ספטמבר",
    "oct october oktober okt octobre octubre outubro out ottobre ott octombrie lokakuuta lokakuu października "
    "październik paź října říjen októbra oktobra október ekim eki октября октябрь окт жовтня октомври "
    "октобар spalio oktobris oktoober οκτωβρίου οκτ أكتوبر اكتوبر אוקטובר",
    "nov november novembre noviembre novembro noiembrie marraskuuta marraskuu listopada listopad lis listopadu "
    "studenoga novembra kasım kas ноября ноябрь ноя листопада ноември новембар lapkričio novembris νοεμβρίου νοε "
    "نوفمبر נובמבר",
    "dec december dezember dez décembre déc diciembre dic dezembro dicembre desembre decembrie desember des "
    "joulukuuta joulukuu grudnia grudzień gru prosince prosinec decembra prosinca pro aralık ara декабря декабрь дек "
    "грудня декември децембар gruodžio decembris detsember δεκεμβρίου δεκ ديسمبر דצמבר desember",
)
# The same for what is left of these languages and for Belarusian, Macedonian, Bosnian, Galician, Icelandic, Albanian,
# Afrikaans, Malay, Filipino, Azerbaijani, Uzbek, Kazakh, Armenian, Georgian, Hindi, Marathi, Nepali, Bengali, Gujarati,
# Punjabi, Tamil, Telugu, Kannada, Malayalam, Urdu and Persian.
MORE_ROWS = (
    "січ січень студзеня сту студзень јануари јан siječanj sausis janv jaan ian xaneiro xan janúar janar januarie "
    "yanvar yan қаңтар հունվարի հնվ հունվար იანვარი იან ιανουάριος जनवरी जानेवारी जाने জানুয়ারী জানু જાન્યુઆરી "
    "જાન્યુ ਜਨਵਰੀ ஜனவரி జనవరి ಜನವರಿ ജനുവരി جنوری ژانویه בינואר जनवरि জানুয়ারি",
    "febr февр лют лютий лютага люты veljača vasaris veebr febreiro febrúar shkurt shk pebrero peb fevral ақпан "
    "փետրվարի փտվ փետրվար თებერვალი თებ φεβρουάριος फ़रवरी फ़र फेब्रुवारी फेब्रु फेब्रुअरी ফেব্রুয়ারী ফেব "
    "ફેબ્રુઆરી ફેબ્રુ ਫ਼ਰਵਰੀ பிப்ரவரி ఫిబ్రవరి ಫೆಬ್ರವರಿ ഫെബ്രുവരി فروری فوریه בפברואר फरवरी ফেব্রুয়ারি",
    "marec márc бер березень сакавіка сак сакавік ožujak kovas marso наурыз մարտի մրտ մարտ მარტი მარ μάρτιος "
    "मार्च মার্চ માર્ચ ਮਾਰਚ மார்ச் మార్చి ಮಾರ್ಚ್ മാർച്ച് مارچ במרץ",
    "ápr квіт квітень красавіка кра красавік travanj balandis apríl prill aprel сәуір ապրիլի ապր ապրիլ აპრილი აპრ "
    "απρίλιος अप्रैल एप्रिल एप्रि अप्रिल এপ্রিল এপ্রি એપ્રિલ ਅਪ੍ਰੈਲ ஏப்ரல் ఏప్రిల్ ಏಪ್ರಿಲ್ ഏപ്രിൽ اپریل آوریل "
    "באפריל",
    "máj трав травень svibanj gegužė maí мамыр մայիսի մյս մայիս მაისი მაი μάιος മേയ് مئی במאי मई मे মে મે ਮਈ மே మే ಮೇ",
    "junij jún черв червень чэрвеня чэр чэрвень јуни lipanj birželis jūn iun xuño júní qershor qer junie hunyo "
    "iyun iyn маусым հունիսի հնս հունիս ივნისი ივნ ιούνιος जून जुन জুন જૂન ਜੂਨ ஜூன் జూన్ ಜೂನ್ ജൂൺ جون ژوئن ביוני",
    "julij júl лип липень ліпеня ліп ліпень јули srpanj liepa jūl iul xullo xul júlí korrik korr julie julai "
    "hulyo hul iyul iyl шілде հուլիսի հլս հուլիս ივლისი ივლ ιούλιος जुलाई जुल जुलै জুলাই জুল જુલાઈ ਜੁਲਾਈ ஜூலை "
    "జులై ಜುಲೈ ജൂലൈ جولائی ژوئیه ביולי",
    "avgust avg серп серпень жніўня жні жнівень kolovoz rugpjūtis ágúst ágú gusht gush agu ogos ogo avqust avq "
    "тамыз օգոստոսի օգս օգոստոս აგვისტო აგვ αύγουστος अगस्त ऑगस्ट अगस्ट আগস্ট ઑગસ્ટ ਅਗਸਤ ஆகஸ்ட் ఆగస్టు ಆಗಸ್ಟ್ "
    "ഓഗസ്റ്റ് اگست اوت באוגוסט",
    "szept вер вересень верасня верасень сеп septembar rujan rugsėjis shtator sht setyembre sentyabr sentabr "
    "қыркүйек սեպտեմբերի սեպ սեպտեմբեր სექტემბერი სექ σεπτέμβριος सितंबर सित सप्टेंबर सप्टें सेप्टेम्बर "
    "সেপ্টেম্বর সেপ સપ્ટેમ્બર સપ્ટે ਸਤੰਬਰ செப்டம்பர் సెప్టెంబర్ ಸೆಪ್ಟೆಂಬರ್ സെപ്റ്റംബർ ستمبر سپتامبر בספטמבר "
    "सितम्बर",
    "жовт жовтень кастрычніка кас кастрычнік oktobar spalis tetor oktubre oktyabr oktabr қазан հոկտեմբերի հոկ "
    "հոկտեմբեր ოქტომბერი ოქტ οκτώβριος अक्टूबर अक्टू ऑक्टोबर ऑक्टो अक्टोबर অক্টোবর অক্টো ઑક્ટોબર ઑક્ટો ਅਕਤੂਬਰ "
    "அக்டோபர் అక్టోబర్ ಅಕ್ಟೋಬರ್ اکتوبر اکتبر באוקטובר अक्तूबर",
    "нояб лист листопад лістапада ліс лістапад ное novembar studeni lapkritis nóvember nóv nëntor nën nobyembre "
    "noyabr noy қараша նոյեմբերի նոյ նոյեմբեր ნოემბერი ნოე νοέμβριος नवंबर नोव्हेंबर नोव्हें नोभेम्बर নভেম্বর নভে "
    "નવેમ્બર નવે ਨਵੰਬਰ நவம்பர் నవంబర్ ನವೆಂಬರ್ നവംബർ نومبر نوامبر בנובמבר नवम्बर",
    "груд грудень снежня сне снежань decembar prosinac gruodis dets decembro dhjetor dhj disember disyembre "
    "dekabr желтоқсан դեկտեմբերի դեկ դեկտեմբեր დეკემბერი დეკ δεκέμβριος दिसंबर दिस डिसेंबर डिसें डिसेम्बर "
    "ডিসেম্বর ডিসে ડિસેમ્બર ડિસે ਦਸੰਬਰ டிசம்பர் డిసెంబర్ ಡಿಸೆಂಬರ್ ഡിസംബർ دسمبر دسامبر בדצמבר दिसम्बर",
)
MONTH_NAMES = {
    name: number for rows in (ROWS, MORE_ROWS) for number, row in enumerate(rows, start=1) for name in row.split()
}
# Croats write a point behind the day, Poles and Czechs in full do not: 5. listopada is in October, 5 listopada later.
AFTER_A_POINT = {"lip": 6, "listopada": 10, "listopad": 10, "lis": 10}
