from django.db import migrations


class Migration(migrations.Migration):
    """Rows of up to 4,080 bytes, as almost all are, are stored uncompressed; existing rows stay as they are."""

    dependencies = [("tokens", "0017_leased_markets")]

    operations = [
        *(
            migrations.RunSQL(
                f"ALTER TABLE {table} SET (toast_tuple_target = 4080)", f"ALTER TABLE {table} RESET (toast_tuple_target)"
            )
            for table in ("tokens_token", "tokens_launchfacts")
        ),
    ]
