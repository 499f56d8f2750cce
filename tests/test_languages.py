import pytest

from vivavoce.languages import find_language, languages


def test_there_are_646_each_with_an_id_of_its_own() -> None:
    assert len(languages()) == 646
    assert len({language.id for language in languages()}) == 646
    assert all(language.name and len(language.iso639_3) == 3 and language.hours > 0 for language in languages())


@pytest.mark.parametrize(
    ("wanted", "expected"),
    [
        ("en", "en"),
        ("en-GB", "en"),
        ("EN_us", "en"),
        ("deu", "de"),
        ("cmn", "zh"),
        ("zh-Hant-TW", "zh"),
        ("Cantonese", "yue"),
        ("ar", "arb"),
        ("tl", "fil"),
        ("nb-NO", "nb"),
        (" Welsh ", "cy"),
    ],
)
def test_a_language_is_found_by_tag_code_or_name(wanted: str, expected: str) -> None:
    found = find_language(wanted)
    assert found is not None
    assert found.id == expected


@pytest.mark.parametrize("wanted", ["", "xx", "Klingonish", "-", "e" * 10_000])
def test_what_is_no_language_is_none(wanted: str) -> None:
    assert find_language(wanted) is None
