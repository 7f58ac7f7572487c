from django.db import migrations

from config.postgresql.sql_files import load_sql


class Migration(migrations.Migration):
    """Functions that fold case, from their file."""

    dependencies = [("accounts", "0021_validated_disabled_by")]

    operations = [load_sql("config/postgresql/case_folding.sql", "09b6ee31e5cf")]
