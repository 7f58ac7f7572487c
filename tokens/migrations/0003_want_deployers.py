from django.db import migrations

# Who is indexed from now on is wanted by the indexing itself.
WANT_DEPLOYERS = """
INSERT INTO accounts_socialprofile
    (fid, username, display_name, pfp_url, bio, verified_addresses, score, fetched_at, due_at, misses)
SELECT DISTINCT requestor_fid, '', '', '', '', '{}'::varchar[], NULL::float8, NULL::timestamptz, now(), 0
FROM tokens_token
WHERE requestor_fid > 0
ON CONFLICT DO NOTHING
"""


class Migration(migrations.Migration):
    """Has the profiles fetched of the deployers of the tokens that are there already."""

    dependencies = [
        ("tokens", "0002_search_and_market"),
        ("accounts", "0002_social_profiles"),
    ]

    operations = [
        # Profiles that nobody reads do no harm: the way back leaves them.
        migrations.RunSQL(WANT_DEPLOYERS, migrations.RunSQL.noop),
    ]
