"""The public site's texts in all its languages: complete catalogs, and pages without English words."""

import gettext
import re
import shutil
import subprocess
from contextlib import chdir
from pathlib import Path

import pytest
from django.core.management import call_command
from django.test import override_settings
from django.utils import translation
from django.utils.translation import to_locale

from config.environment.site_variables import LANGUAGES
from config.environment.variables import BASE_DIR
from config.site.formats import compact, join_parts, local_separators, short_duration, usd

CATALOGS = BASE_DIR / "config" / "site" / "locale"
# Sources are in English.
LOCALES = [to_locale(code) for code in LANGUAGES if code != "en"]
# Folders with page texts; the Makefile leaves out the same ones.
PACKAGES = ("config", "leaderboard", "templates", "tokens")
_PLACEHOLDER = re.compile(r"%(?:\([a-z_0-9]+\))?[a-z%]|#|</?[a-z]+|https?://\S+")


def catalog_path(locale: str, suffix: str) -> Path:
    return CATALOGS / locale / "LC_MESSAGES" / f"django.{suffix}"


def need(program: str) -> str:
    """Return a GNU gettext tool's path; fail the test without it."""
    found = shutil.which(program)
    if found is None:
        pytest.fail(f"{program} is not installed: run `make gettext`, or install GNU gettext")
    return found


def read_catalog(path: Path) -> dict[object, str]:
    """Return id -> text in a compiled catalog; plural ids are pairs: an id and the form's number."""
    with path.open("rb") as file:
        messages: dict[object, str] = gettext.GNUTranslations(file)._catalog
    return {key: text for key, text in messages.items() if key != ""}


def ids_of(path: Path) -> set[object]:
    return {key[0] if isinstance(key, tuple) else key for key in read_catalog(path)}


@pytest.fixture(scope="module")
def extracted(tmp_path_factory):
    """Extract all texts from a source copy by Django's command, and return the compiled ids."""
    need("xgettext")
    copy = tmp_path_factory.mktemp("sources")
    for package in PACKAGES:
        shutil.copytree(BASE_DIR / package, copy / package, ignore=shutil.ignore_patterns("locale", "*.woff2"))
    command = re.search(r"\n\t(.*makemessages .*?)\n\t@", (BASE_DIR / "Makefile").read_text(), re.DOTALL)[1]
    ignored = re.search(r"addprefix --ignore ,(.*?)\)", command)[1].split()
    (copy / "locale").mkdir()
    with chdir(copy), override_settings(LOCALE_PATHS=[str(copy / "locale")]):
        call_command("makemessages", locale=["en"], ignore_patterns=ignored, no_obsolete=True, verbosity=0)
    texts = copy / "locale" / "en" / "LC_MESSAGES" / "django.po"
    # Without a text, a message is not in the compiled file.
    marked = re.sub(r'^(msgstr(?:\[[01]\])?) ""$(?!\n"[A-Z])', r'\1 "x"', texts.read_text(), flags=re.MULTILINE)
    texts.write_text(marked)
    subprocess.run([need("msgfmt"), "--output-file", texts.with_suffix(".mo"), texts], check=True)
    return ids_of(texts.with_suffix(".mo"))


@pytest.mark.parametrize("locale", LOCALES)
def test_every_text_of_the_sources_is_translated(extracted, locale):
    assert len(extracted) > 300 and "Market cap" in extracted and "Possible copy" in extracted
    translated = ids_of(catalog_path(locale, "mo"))
    assert extracted - translated == set(), "run `make messages` and translate what it adds"
    assert translated - extracted == set(), "run `make messages`: it removes texts that are no longer used"


@pytest.mark.parametrize("locale", LOCALES)
def test_compiled_catalogs_are_those_of_the_texts(locale, tmp_path):
    compiled = tmp_path / "django.mo"
    texts = catalog_path(locale, "po")
    subprocess.run([need("msgfmt"), "--check-format", "--output-file", compiled, texts], check=True)
    assert read_catalog(compiled) == read_catalog(catalog_path(locale, "mo")), "run `make messages`"


@pytest.mark.parametrize("locale", LOCALES)
def test_no_text_is_fuzzy_or_empty(locale):
    text = catalog_path(locale, "po").read_text()
    assert "fuzzy" not in text and "#~" not in text and "POT-Creation-Date" not in text
    assert re.findall(r'^msgstr(?:\[\d\])? ""$(?!\n")', text, re.MULTILINE) == []
    assert [key for key, translated in read_catalog(catalog_path(locale, "mo")).items() if not translated.strip()] == []


@pytest.mark.parametrize("locale", LOCALES)
def test_placeholders_are_those_of_the_source(locale):
    for key, text in read_catalog(catalog_path(locale, "mo")).items():
        source = key[0] if isinstance(key, tuple) else key
        expected = set(_PLACEHOLDER.findall(str(source).rpartition("\x04")[2]))
        found = _PLACEHOLDER.findall(text)
        # "The newest bar with trades" is "The newest 3 bars" in other numbers.
        assert set(found) <= expected | ({"%(number)s"} if isinstance(key, tuple) else set()), (source, text)
        assert expected <= set(found), (source, text)
        assert len(found) == len(_PLACEHOLDER.findall(str(source))) or isinstance(key, tuple), (source, text)


# English term -> words; each translation with the term has one of them. The guide's table, by language.
def terms_of(column: int) -> dict[str, tuple[str, ...]]:
    guide = (BASE_DIR / "docs" / "contributing.md").read_text()
    table = guide.split("| English | German | Chinese |", 1)[1].split("\n\n", 1)[0]
    rows = [[cell.strip() for cell in line.strip("| ").split("|")] for line in table.splitlines()[2:]]
    return {term: tuple(row[column].split(", ")) for row in rows for term in row[0].split(", ")}


def sources_and_texts(locale: str) -> list[tuple[str, str]]:
    catalog = read_catalog(catalog_path(locale, "mo"))
    sources = ((str(key[0] if isinstance(key, tuple) else key), text) for key, text in catalog.items())
    return [(source.rpartition("\x04")[2], text) for source, text in sources]


@pytest.mark.parametrize(("locale", "column"), [("de", 1), ("zh_Hans", 2)])
def test_one_term_has_one_word(locale, column):
    terms = terms_of(column)
    assert len(terms) > 20 and terms["volume"] == (("Volumen",), ("成交量",))[column - 1]
    wrong = [
        (term, source, text)
        for term, words in terms.items()
        for source, text in sources_and_texts(locale)
        if re.search(rf"\b{term}s?\b", re.sub(r"%\(\w+\)s|<.*?>", "", source), re.IGNORECASE)
        and not any(word in text for word in words)
    ]
    assert wrong == []


# These values end with a Chinese character.
_CHINESE_VALUES = re.compile(r"%\((?:age|period|moment|interval)\)s")
_HAN = "[\u4e00-\u9fff]"


def test_chinese_has_its_own_punctuation_and_spaces():
    for _, text in sources_and_texts("zh_Hans"):
        shown = _CHINESE_VALUES.sub("值", re.sub(r"<.*?>", "", text)).replace("%%", "%")
        shown = re.sub(r"%\(\w+\)[sd]|#", "1", shown)
        assert not re.search(f"{_HAN}[,.:;!?()]|[,:;!?()]{_HAN}", shown), text
        assert not re.search(f"{_HAN}[A-Za-z0-9]|[A-Za-z0-9%]{_HAN}", shown), text
        assert "你" not in shown and '"' not in shown, text


def test_german_has_its_own_spaces_and_spellings():
    for _, text in sources_and_texts("de"):
        assert not re.search(r"[\w)] ?%%|\bIds?\b", text), text
        # Texts do not address the reader; a sentence may begin with a pronoun.
        assert not re.search(r"\b(?:du|deine?)\b|[\w,] (?:Sie|Ihre?)\b", text), text
        assert '"' not in re.sub(r"<.*?>", "", text), text


def test_numbers_have_the_form_of_the_language():
    forms = {
        "en": ("$1.23M", "-$4.50B", "2.00K", "5m", "1,234.5", "a, b"),
        "de": ("1,23 Mio. $", "-4,50 Mrd. $", "2,00 Tsd.", "5 min", "1.234,5", "a, b"),
        "zh-hans": ("$1.23M", "-$4.50B", "2.00K", "5 分钟", "1,234.5", "a、b"),
    }
    assert set(forms) == set(LANGUAGES)
    for language, expected in forms.items():
        with translation.override(language):
            made = (usd(1_234_567), usd(-4_500_000_000), compact(2_000), short_duration(300))
            made += (local_separators("1,234.5"), join_parts(["a", "b"]))
        assert tuple(text.replace("\xa0", " ") for text in made) == expected
