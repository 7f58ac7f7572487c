import sys

from django.db import migrations

# The letters whose case folding has several letters: sharp s, ligatures, Greek with accents that have no capital.
FULL = {
    letter: folded for letter in map(chr, range(sys.maxunicode + 1)) if len(folded := letter.casefold()) > 1
} | {
    # Turkish: i, I, ı and İ are one letter.
    "İ": "i",
    "i\N{COMBINING DOT ABOVE}": "i",
    # Locales of ICU lower a sigma by its place in the word.
    "ς": "σ",
}
LETTERS, FOLDINGS = (", ".join(f"'{text}'" for text in texts) for texts in (FULL, FULL.values()))
ANY = "".join(sorted({letter[-1] for letter in FULL}))

# Upper case joins letters with several lower cases, such as both sigmas; lower case before it joins both sharp s. ASCII
# is decided without a call, since the planner inlines the second function. Its body is bound when it is created, so
# that it works without a search path, as pg_restore has.
FUNCTIONS = f"""
CREATE FUNCTION fold_letters(content text) RETURNS text LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL SAFE AS $$
DECLARE
    letters CONSTANT text[] := ARRAY[{LETTERS}];
    foldings CONSTANT text[] := ARRAY[{FOLDINGS}];
    folded text := lower(upper(lower(content)));
BEGIN
    IF folded ~ '[{ANY}]' THEN
        FOR place IN 1..cardinality(letters) LOOP
            folded := replace(folded, letters[place], foldings[place]);
        END LOOP;
    END IF;
    RETURN folded;
END
$$;
CREATE FUNCTION fold_case(content text) RETURNS text LANGUAGE sql IMMUTABLE PARALLEL SAFE
    RETURN CASE WHEN octet_length(content) = char_length(content) THEN lower(content) ELSE fold_letters(content) END;
"""


class Migration(migrations.Migration):
    """Function that folds case in searches, as Unicode does."""

    dependencies = [("accounts", "0017_disabled_by")]

    operations = [migrations.RunSQL(FUNCTIONS, "DROP FUNCTION fold_case(text); DROP FUNCTION fold_letters(text);")]
