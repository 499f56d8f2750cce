"""What is known about words in capitals. Extend these lists freely; everything else follows a rule of sound."""

from __future__ import annotations

__all__ = ["CHOSEN_LETTERS", "SAID", "SHORT_WORDS", "SPELLED", "WORDS"]

# Said as words although written in capitals.
WORDS = frozenset(
    str.split(
        """
    NASA NATO UNESCO UNICEF OPEC FIFA UEFA AIDS LASER RADAR SCUBA SONAR NAFTA ASEAN COBOL BASIC ASCII BIOS CAPTCHA
    COVID EBITDA FEMA GIF LAN WAN RAM ROM PIN SIM SWAT TASER WASP ZIP POTUS SCOTUS FLOTUS MIDI MIME NIMBY NORAD PETA
    SARS SOAP TED UNIX YOLO FOMO IMAX ISIS INTERPOL NASDAQ DRAM SRAM CAD ZOOM LIDAR MERS EPCOT MODEM NERF RICO SALT SIDS
    ALGOL ANSI BAFTA CERN DARPA DOS EULA FORTRAN HAMAS INTEL JAVA KISS LASIK LINUX LISP LAMP NIST NAND OLED PASCAL PERL
    RAID REST REM RISC SAAB SAP SEATO SNAFU SPAM STEM TIFF VISA WIMP AWOL CAMRA EPROM GATT NASCAR VAT WAP UNRWA
        """
    )
)

# Said in some other way of their own.
SAID = {
    "AAA": "triple A",
    "CRISPR": "crisper",
    "FLAC": "flack",
    "GUI": "gooey",
    "HIPAA": "hippa",
    "IEEE": "I triple E",
    "IKEA": "Ikea",
    "JPEG": "jay-peg",
    "JSON": "jason",
    "NAACP": "N double A C P",
    "NCAA": "N C double A",
    "NOAA": "Noah",
    "OSHA": "oh-sha",
    "OXFAM": "Oxfam",
    "QANTAS": "Qantas",
    "REIT": "reet",
    "SCSI": "scuzzy",
    "TOEFL": "toe-full",
    "WYSIWYG": "wizzywig",
    "YAML": "yammel",
}

# Said letter by letter although they could be read as words, or are words too.
SPELLED = frozenset(
    str.split(
        """
    ASAP UCLA AARP OECD USSR ISBN ICAO IATA EEOC ACLU USDA USAF ESRB ESPN HTML URL API SQL ATM CEO CFO CTO COO CIO
    FBI CIA NSA IRS NHS WTO IMF UN EU UK USA UAE USB CPU GPU TPU NPU LED LCD DVD CD TV PC AI ML ID IQ IP OK PM
    FM DJ VIP RIP DIY FAQ ETA FYI BBC CNN NBC CBS ABC HBO MTV IBM AMD BMW VW GM KFC UPS DHL NFL NBA MLB NHL UFC MVP PR HR
    QA UI UX VR AR XR OS PDF CSV XML CSS PHP SSH SSL TLS DNS VPN HDMI SSD HDD MRI CT ICU ER DNA RNA HIV ADHD PTSD OCD
    LGBT LGBTQ MBA PHD BA MA MD JD GPA ATV SUV RV MPG MPH AC DC EV EKG ECG SPF UV GPS ISS ESA JFK LBJ FDR MLK
    AOL MSN AWS GCP NYC LA UCL MIT NYU LSE TTS STT ASR LLM NLP RAG SDK IDE CLI ORM ACL IPO ROI KPI SEO SMS ISP
    AFL AFC NFC IPA IPV PPE RSVP TGIF EST PST CST MST UTC GMT BST CET IOU AKA BMI EMT GDP GNP
    IELTS EPA FDA CDC FCC FTC SEC DOJ DOD DOE DHS TSA DEA ATF NRA PLO IRA ETF IAEA ILO ROTC PNG
        """
    )
)

# Words that are also initialisms: letters, unless the whole sentence is in capitals. `WHO` is an organization only
# after an article or a preposition.
CHOSEN_LETTERS = frozenset(str.split("US IT WHO AM ET PA MO"))

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
    zoo non pro max app ads bib bog bra bum cog con cot dab den dip doc dub duo ebb eel elk elm emu fab fir flu gag gel gig
    gin hem hob hop hue hum ion irk jab jot keg kin lag lax lob lug mar mid mow nab nag nib nil nip nun oaf oar oat ode opt
    orb ore pal par pep per pew ply pod pry pun pup rag rap rib rig rot rum rut rye sob sod sty sue tad tar tic tot tow urn
    vex via vie wag wig woe yam yap zap
    """)
)
