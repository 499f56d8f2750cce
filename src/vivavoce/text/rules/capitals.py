"""What is known about words in capitals. Extend these lists freely; everything else follows a rule of sound."""

from __future__ import annotations

__all__ = ["CHOSEN_LETTERS", "SAID", "SHORT_WORDS", "SPELLED", "WORDS"]

# Said as words although written in capitals.
WORDS = frozenset(
    str.split("""
    NASA NATO UNESCO UNICEF OPEC FIFA UEFA IKEA AIDS LASER RADAR SCUBA SONAR NAFTA ASEAN COBOL BASIC ASCII BIOS CAPTCHA
    COVID EBITDA FEMA GIF LAN WAN RAM ROM PIN SIM SWAT TASER WASP YAML JSON ZIP HIPAA OSHA POTUS SCOTUS FLOTUS
    MIDI MIME NIMBY NORAD PETA SARS SOAP TED UNIX YOLO FOMO IMAX ISIS BREXIT INTERPOL NASDAQ DRAM SRAM CAD
    ZOOM LIDAR MERS EPCOT GESTAPO MODEM MOOC NERF OXFAM QANTAS REIT RICO ROTC SALT SIDS START AMBER ALGOL
    ANSI BAFTA CERN COIN DARPA DOS DOOM EULA FIAT FLAC FORTRAN HAMAS INTEL JAVA JPEG KISS LASIK LINUX LISP LAMP NOAA
    NIST NICE NAND NOR OLED OPIC PAC PASCAL PERL RAID REST REM RISC SAAB SAP SEATO SMART SNAFU SPAM SPAR STEM TIFF
    UNIVAC VISA WIMP AWOL CAMRA CEDAW EPROM ESPRIT GATT GUI NASCAR NIMH PEMDAS RADAR SAG SAT TESL UNRWA WAP WYSIWYG
    """)
) - frozenset(str.split("SAT SAG PAC NOR SAP DOS NIMH")) | frozenset({"DOS", "SAP"})

# Said in some other way of their own.
SAID = {
    "JPEG": "jay-peg",
    "GUI": "gooey",
    "IEEE": "I triple E",
    "AAA": "triple A",
    "NAACP": "N double A C P",
    "NCAA": "N C double A",
    "CRISPR": "crisper",
    "SCSI": "scuzzy",
    "PNG": "P N G",
    "HIPAA": "hippa",
    "NOAA": "Noah",
    "OSHA": "oh-sha",
    "WYSIWYG": "wizzywig",
}

# Said letter by letter although they could be read as words, or are words too.
SPELLED = frozenset(
    str.split("""
    ASAP UCLA AARP OECD USSR ISBN ICAO IATA EEOC ACLU USDA USAF ESRB ESPN HTML URL URLS API SQL ATM CEO CFO CTO COO CIO
    FBI CIA NSA IRS NHS WTO IMF UN EU UK USA UAE USB CPU GPU TPU NPU LED LCD DVD CD TV PC AI ML ID IQ IP IT OK AM PM
    FM DJ VIP RIP DIY FAQ ETA FYI BBC CNN NBC CBS ABC HBO MTV IBM AMD BMW VW GM KFC UPS DHL NFL NBA MLB NHL UFC MVP PR HR
    QA UI UX VR AR XR OS PDF CSV XML CSS PHP SSH SSL TLS DNS VPN HDMI SSD HDD MRI CT ICU ER DNA RNA HIV ADHD PTSD OCD
    LGBT LGBTQ MBA PHD BA MA MD JD GPA ATV SUV RV MPG MPH AC DC EV EKG ECG SPF UV GPS ISS ESA JFK LBJ FDR MLK
    AOL MSN AWS GCP NYC LA DC UCL MIT NYU LSE TTS STT ASR LLM NLP RAG SDK IDE CLI ORM ACL IPO ROI KPI SEO SMS ISP
    ABBA AFL AFC NFC IPA IPV PPE RSVP TGIF EST PST CST MST UTC GMT BST CET IOU AKA BMI EMT GDP GNP VAT PIN
    IELTS TOEFL EPA FDA CDC FCC FTC SEC DOJ DOD DOE DHS TSA ICE DEA ATF NRA PLO IRA ETF ESOP IAEA ILO
    """)
) - frozenset(str.split("ABBA PIN VAT TOEFL ICE ESOP")) | frozenset({"VAT", "ICE"} - {"ICE"})

# Words that are also initialisms: letters, unless the whole sentence is in capitals. `WHO` is an organization only
# after an article or a preposition.
CHOSEN_LETTERS = frozenset({"US", "IT", "WHO", "AM", "OR", "IN", "ME", "ET", "AL", "SO", "HE", "PA", "MO"}) - frozenset(
    {"SO", "HE", "OR", "IN", "ME", "AL"}
)

# English words of up to three letters: in capitals they are emphasis.
SHORT_WORDS = frozenset(
    str.split("""
    a i am an as at be by do go ha he hi if in is it me my no of oh on or so to up us we ye ah eh hm ow yo
    ace act add age ago aid aim air all and ant any ape apt arc are ark arm art ash ask ate awe axe bad bag ban bar bat
    bay bed bee beg bet bid big bin bit bow box boy bud bug bun bus but buy bye cab can cap car cat cop cow cry cub cup
    cut dad dam day den dew did die dig dim dip dog dot dry due dug ear eat egg ego elf end era eve eye fan far fat fax
    fed fee few fig fin fit fix fly foe fog for fox fry fun fur gap gas gem get got gum gun gut guy gym had ham has hat
    hay hen her hey him hip his hit hot how hug hut ice icy ill ink inn its ivy jam jar jaw jet job jog joy jug key kid
    kit lab lad lap law lay leg let lid lie lip lit log lot low mad man map mat may men met mix mob mom mop mud mug mum
    nap net new nod not now nut oak odd off oil old one our out owe owl own pad pan pat paw pay pea pen pet pie pig pin
    pit pop pot pub put ran rat raw ray red rid rim rip rob rod row rub rug run sad sat saw say sea see set sew sex she
    shy sin sip sir sit six ski sky sly son sow spy sub sum sun tab tag tan tap tax tea ten the tie tin tip toe ton too
    top toy try tub tug two use van vet vow wad war was wax way web wed wet who why wig win wit won wow yes yet you zip
    zoo non pro max
    """)
)
