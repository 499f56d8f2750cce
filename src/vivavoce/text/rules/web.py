"""E-mail and web addresses, paths, file names, hash tags and handles as a person reads them out."""

from __future__ import annotations

import re

from .capitals import SPELLED
from .hit import Hit, Source
from .initialisms import is_spelled, pronounceable, spell
from .numbers import decimal, digits, pairs

__all__ = ["address", "handle", "path_words"]

LIKELY = re.compile(r"[A-Za-z0-9%+-]{0,80}(?:[@/:\\_~(]|\.[A-Za-z0-9_/~.@%+-])")
EMAIL = re.compile(r"(?:mailto:)?([A-Za-z0-9][A-Za-z0-9._%+-]{0,63})@([A-Za-z0-9-]{1,63}(?:\.[A-Za-z0-9-]{1,63}){1,6})")
URL = re.compile(r"([A-Za-z][A-Za-z0-9+]{1,11})://([^\s<>\"“”]{1,2000})")
LOCAL = re.compile(
    r"(?:localhost|[A-Za-z][A-Za-z0-9-]{0,62})(?::[0-9]{2,5})(?![0-9])(?:[/?#][^\s<>\"“”]{0,2000})?|localhost/[^\s<>\"“”]{0,2000}"
)
DOMAIN = re.compile(
    r"(?:[A-Za-z0-9](?:[A-Za-z0-9-]{0,61}[A-Za-z0-9])?\.){1,6}([A-Za-z]{2,24})(?![A-Za-z0-9@])(?::[0-9]{2,5})?(?:[/?#][^\s<>\"“”]{0,2000})?"
)
FILE = re.compile(
    r"(?:\.{0,2}/|~/)?(?:[A-Za-z0-9_.@+-]{1,80}/){0,20}[A-Za-z0-9_@+-]{1,80}(?:\.[A-Za-z0-9_-]{1,40}){0,3}\.([A-Za-z0-9]{1,10})(?![A-Za-z0-9_/])"
)
PATH = re.compile(r"(?:~|\.{1,2})?(?:/[A-Za-z0-9_.@%+~-]{1,80}){2,30}/?|(?:~|\.{1,2})/[A-Za-z0-9_.@%+~/-]{0,200}")
WINDOWS = re.compile(r"[A-Za-z]:\\[^\s<>\"“”]{0,400}")
SNAKE = re.compile(r"[A-Za-z0-9]{1,60}(?:_[A-Za-z0-9]{1,60}){1,12}(?:\(\))?(?![A-Za-z0-9_])")
ATTRIBUTE = re.compile(r"[A-Za-z_][A-Za-z0-9_]{0,60}(?:\.[a-z_][A-Za-z0-9_]{1,60}){1,8}(?:\(\))?(?![A-Za-z0-9_])")
CALL = re.compile(r"[A-Za-z][A-Za-z0-9]{1,60}(?=\(\))")
HASHTAG = re.compile(r"#([A-Za-z][A-Za-z0-9_]{0,99})")
HANDLE = re.compile(r"@([A-Za-z0-9_](?:[A-Za-z0-9_.-]{0,60}[A-Za-z0-9_])?)")
PIECES = re.compile(r"[A-Z]{2,40}(?![a-z])|[A-Z]?[a-z]{1,80}|[A-Z]|[0-9]{1,40}|[^A-Za-z0-9]")
CAMEL = re.compile(r"[A-Z]{2,40}(?![a-z])|[A-Z]?[a-z]{1,80}|[A-Z]|[0-9]{1,40}")
TLDS = frozenset(
    str.split(
        "com org net edu gov mil int info biz io ai co app dev me tv uk de fr es it nl be ch at se no dk fi pl cz pt ru ua "
        "jp cn kr in au nz ca us br mx ar za ie gr hu ro tr il eu tech online site xyz cloud blog shop store news page live "
        "link club space world website example test local museum name pro mobi wiki design agency"
    )
)
EXTENSIONS = frozenset(
    str.split(
        "py js ts tsx jsx rs go rb java c h cpp hpp cs php sh bash zsh ps bat exe dll so pdf doc docx xls xlsx ppt pptx txt md "
        "rst csv tsv json yaml yml toml xml html htm css scss sql db log ini cfg conf env zip gz tar rar iso dmg apk deb rpm "
        "jpg jpeg png gif svg webp bmp tif tiff ico mp3 mp4 wav ogg opus flac aac m4a avi mov mkv webm ipynb lock onnx bin "
        "swift kt lua pl r tex bib srt vtt epub"
    )
)
SAID_EXTENSIONS = frozenset(
    str.split(
        "zip bat log bin wav jar gif mov doc ini tar iso bib lock java bash json yaml toml swift webp epub conf conf"
    )
)
MARKS = {
    ".": "dot", "-": "dash", "_": "underscore", "/": "slash", "?": "question mark", "=": "equals", "&": "and",
    ":": "colon", "#": "hash", "%": "percent", "+": "plus", "~": "tilde", "@": "at", "\\": "backslash",
}  # fmt: skip
VOWEL = re.compile("[aeiouyAEIOUY]")
LONGEST_PATH = 200


def _letters(piece: str) -> str:
    if piece.isupper() and len(piece) > 1:
        return spell(piece) if is_spelled(piece) else piece.lower()
    if piece.upper() in SPELLED:
        return spell(piece)
    short = len(piece) < 4 or not VOWEL.search(piece)
    return spell(piece) if len(piece) > 1 and short and not pronounceable(piece) else piece


def _spelled(text: str) -> list[str]:
    return [digits(character) if character.isdigit() else character.upper() for character in text]


def _name(text: str, hyphen: str = "dash") -> str:
    """One label of an address: words stay words, digits and marks are named."""
    said: list[str] = []
    for piece in PIECES.findall(text):
        if piece.isdecimal() and piece.isascii():
            said.append(pairs(piece) if len(piece) < 5 else digits(piece))
        elif piece.isalpha() and piece.isascii():
            said.append(_letters(piece))
        elif piece == "-":
            said.append(hyphen)
        elif piece in MARKS:
            said.append(MARKS[piece])
    return " ".join(said)


def _host(text: str) -> str:
    name, _, port = text.partition(":")
    labels = name.split(".")
    said = ["W W W" if label.lower() == "www" else _name(label) for label in labels[:-1]]
    last = labels[-1]
    said.append(
        spell(last) if len(labels) > 1 and ((len(last) == 2 and last != "co") or last == "edu") else _name(last)
    )
    return " dot ".join(word for word in said if word) + (
        f" colon {pairs(port) if port.isdigit() else port}" if port else ""
    )


def path_words(text: str) -> str:
    """What follows the host, with a leading space: `/guide?v=1` is ` slash guide question mark v equals one`."""
    text = text[:LONGEST_PATH].rstrip("/")
    said = _name(text)
    return f" {said}" if said else ""


def _trim(text: str) -> str:
    """Punctuation after an address is the sentence's."""
    trimmed = text.rstrip(".,;:!?'\"*_~]}”’…>")
    while trimmed.endswith(")") and trimmed.count("(") < trimmed.count(")"):
        trimmed = trimmed[:-1].rstrip(".,;:!?'\"")
    return trimmed


def _located(text: str) -> str:
    """Host, port, path and query of an address without its scheme."""
    cut = min((index for index in map(text.find, "/?#") if index >= 0), default=len(text))
    host, rest = text[:cut], text[cut:]
    user, at, host = host.rpartition("@")
    return (f"{_name(user)} at " if at else "") + _host(host) + path_words(rest)


def address(source: Source, at: int) -> Hit | None:
    """Anything that locates: mail, web, host and port, file, path."""
    text = source.text
    if not LIKELY.match(text, at):
        return None
    if match := EMAIL.match(text, at):
        said = f"{_name(match[1])} at {_host(match[2].rstrip('-'))}"
        return Hit(match.end(), said, "email")
    if match := URL.match(text, at):
        rest = _trim(match[2])
        return Hit(match.start(2) + len(rest), _located(rest), "url") if rest else None
    if match := WINDOWS.match(text, at):
        path = _trim(match.group())
        said = _name(path.replace(":\\", "\\", 1))
        return Hit(at + len(path), said, "path")
    if match := DOMAIN.match(text, at):
        found = _trim(match.group())
        if match[1].lower() in TLDS and (match[1].islower() or found.isupper()) and not _is_file(found):
            return Hit(at + len(found), _located(found.lower() if found.isupper() else found), "url")
    if match := LOCAL.match(text, at):
        found = _trim(match.group())
        return Hit(at + len(found), _located(found), "url")
    if (
        (match := FILE.match(text, at))
        and match[1].lower() in EXTENSIONS
        and not match.group().replace(".", "").isdigit()
    ):
        path, extension = match.group()[: -len(match[1])], match[1].lower()
        last = extension if extension in SAID_EXTENSIONS else " ".join(_spelled(extension))
        return Hit(match.end(), f"{_name(path)} {last}", "file")
    if text[at] in "/~." and (match := PATH.match(text, at)):
        found = _trim(match.group())
        return Hit(at + len(found), path_words(found).strip(), "path") if found.strip("./~") else None
    if match := SNAKE.match(text, at):
        pieces = match.group().rstrip("()").split("_")
        number = "".join(pieces)
        said = decimal(number) if number.isdigit() else " ".join(_name(piece) for piece in pieces)
        return Hit(match.end(), said, "identifier")
    if match := ATTRIBUTE.match(text, at):
        return Hit(match.end(), _name(match.group().removesuffix("()")), "identifier")
    if match := CALL.match(text, at):
        return Hit(match.end() + 2, " ".join(_letters(piece) for piece in CAMEL.findall(match.group())), "identifier")
    return None


def _is_file(text: str) -> bool:
    return text.count(".") == 1 and text.rpartition(".")[2] in ("pl", "rs", "md", "sh", "py") and "/" not in text


def handle(source: Source, at: int) -> Hit | None:
    """`#MachineLearning` is `hashtag machine learning`, `@some_user` is `at some user`."""
    text = source.text
    if match := HASHTAG.match(text, at):
        words = " ".join(_tag_piece(piece) for piece in CAMEL.findall(match[1]))
        return Hit(match.end(), f"hashtag {words}", "hashtag")
    if match := HANDLE.match(text, at):
        return Hit(match.end(), f"at {_name(match[1].replace('_', ' '))}", "handle")
    return None


def _tag_piece(piece: str) -> str:
    if piece.isdigit():
        return pairs(piece) if len(piece) < 5 else digits(piece)
    if piece.isupper() and len(piece) > 1:
        return spell(piece) if is_spelled(piece) else piece.lower()
    return piece.lower() if len(piece) > 1 else piece
