from django.db import migrations, models


class Migration(migrations.Migration):
    """Fees in launched tokens beside trades, and marks of undecodable logs. No trade is rewritten."""

    dependencies = [("tokens", "0061_indexes_of_launchpads")]

    operations = [
        migrations.AddField("pooltrade", "token_fee", models.DecimalField(decimal_places=0, max_digits=78, null=True)),
        # Former versions left the mark where a later attempt had indexed the transaction. By the new index.
        migrations.RunSQL(
            "UPDATE tokens_indexrequest SET undecodable = false WHERE undecodable AND status <> 'failed'",
            migrations.RunSQL.noop,
        ),
    ]
