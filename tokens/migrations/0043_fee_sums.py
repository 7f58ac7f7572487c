from django.db import migrations, models

import tokens.models.trade
from config.postgresql.statement_triggers import make_fill, make_triggers

_TOKEN = models.ForeignKey(
    db_constraint=False, db_index=False, on_delete=models.DO_NOTHING, related_name="+", to="tokens.token"
)
_ADDRESS = models.CharField(max_length=44)

# The last change of a recipient before a collection of v4, and its parts: each list has an amount for each share.
PARTS = """
LEFT JOIN LATERAL (
    SELECT (change.at AT TIME ZONE 'UTC')::date AS day, change.block_number << 20 | change.log_index AS position
    FROM tokens_tokenevent AS change
    WHERE change.token_id = event.token_id AND change.kind = 'reward_recipient_updated'
        AND (change.block_number, change.log_index) < (event.block_number, event.log_index)
    ORDER BY change.block_number DESC, change.log_index DESC LIMIT 1
) AS before ON true
CROSS JOIN LATERAL (
    SELECT 0 AS place, share, part.amount::numeric
    FROM jsonb_array_elements_text(event.arguments -> 'rewards0') WITH ORDINALITY AS part (amount, share)
    UNION ALL
    SELECT 1, share, part.amount::numeric
    FROM jsonb_array_elements_text(event.arguments -> 'rewards1') WITH ORDINALITY AS part (amount, share)
) AS part
"""
SINCE = "CASE WHEN before.day = (event.at AT TIME ZONE 'UTC')::date THEN before.position ELSE 0 END"

# For a change that is stored or deleted after collections of its day. Their blocks are known: no other event of the
# token is read.
RECOUNT = f"""
CREATE FUNCTION recount_fee_day(of_token bigint, of_day date) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
    first_of_day bigint;
    last_of_day bigint;
BEGIN
    SELECT min(first_block), max(last_block) INTO first_of_day, last_of_day
        FROM tokens_collectionsum WHERE token_id = of_token AND day = of_day;
    DELETE FROM tokens_collectionsum WHERE token_id = of_token AND day = of_day;
    INSERT INTO tokens_collectionsum (token_id, day, since, share, place, amount, first_block, last_block)
        SELECT of_token, of_day, {SINCE}, part.share - 1, part.place, sum(part.amount),
            min(event.block_number), max(event.block_number)
        FROM tokens_tokenevent AS event {PARTS}
        WHERE event.token_id = of_token AND event.kind = 'fees_collected'
            AND event.block_number BETWEEN first_of_day AND last_of_day
            AND (event.at AT TIME ZONE 'UTC')::date = of_day AND part.amount <> 0
        GROUP BY 3, 4, 5;
END
$$;
"""
# Progress is read after the chain's lock was taken: the fill moves it under the same lock.
SUMMED = """
JOIN tokens_feesumprogress AS progress
    ON progress.chain_id = event.chain_id AND event.block_number <= progress.summed_to
"""
ADD_COLLECTIONS = f"""
    INSERT INTO tokens_collectionsum AS stored (token_id, day, since, share, place, amount, first_block, last_block)
        SELECT event.token_id, (event.at AT TIME ZONE 'UTC')::date, {SINCE}, part.share - 1, part.place,
            sum(event.sign * part.amount), min(event.block_number), max(event.block_number)
        FROM ({{source}}) AS event {SUMMED} {PARTS}
        WHERE event.kind = 'fees_collected' AND event.token_id IS NOT NULL AND part.amount <> 0
        GROUP BY 1, 2, 3, 4, 5 ORDER BY 1, 2, 3, 4, 5
        ON CONFLICT (token_id, day, since, share, place) DO UPDATE SET amount = stored.amount + EXCLUDED.amount,
            first_block = LEAST(stored.first_block, EXCLUDED.first_block),
            last_block = GREATEST(stored.last_block, EXCLUDED.last_block);
"""
# A change divides later collections. Without one in the sums, such as at the head, there is nothing to divide again.
DIVIDE_DAYS = f"""
    PERFORM recount_fee_day(token_id, day) FROM (
        SELECT DISTINCT event.token_id, (event.at AT TIME ZONE 'UTC')::date AS day
        FROM ({{source}}) AS event {SUMMED}
        WHERE event.kind = 'reward_recipient_updated' AND EXISTS (
            SELECT FROM tokens_collectionsum AS stored
            WHERE stored.token_id = event.token_id AND stored.day = (event.at AT TIME ZONE 'UTC')::date
                AND stored.last_block >= event.block_number
        )
    ) AS changed;
"""
EVENTS_OF_BLOCKS = """
    SELECT 1 AS sign, * FROM tokens_tokenevent
    WHERE chain_id = of_chain AND block_number > after_block AND block_number <= up_to_block
"""


class Migration(migrations.Migration):
    """Daily sums of collected fees, by triggers of events, and the tables for those of claims."""

    dependencies = [("tokens", "0042_uploads")]

    operations = [
        migrations.CreateModel(
            name="FeeSumProgress",
            fields=[
                ("chain_id", models.BigIntegerField(primary_key=True, serialize=False)),
                ("summed_to", models.BigIntegerField()),
            ],
        ),
        migrations.CreateModel(
            name="CollectionSum",
            fields=[
                (
                    "pk",
                    models.CompositePrimaryKey(
                        "token_id",
                        "day",
                        "since",
                        "share",
                        "place",
                        blank=True,
                        editable=False,
                        primary_key=True,
                        serialize=False,
                    ),
                ),
                ("token", _TOKEN),
                ("day", models.DateField()),
                ("since", models.BigIntegerField()),
                ("share", models.IntegerField()),
                ("place", models.SmallIntegerField()),
                ("amount", tokens.models.trade.ExactNumericField()),
                ("first_block", models.BigIntegerField()),
                ("last_block", models.BigIntegerField()),
            ],
        ),
        migrations.CreateModel(
            name="ClaimSum",
            fields=[
                (
                    "pk",
                    models.CompositePrimaryKey(
                        "token_id",
                        "day",
                        "recipient",
                        "currency",
                        blank=True,
                        editable=False,
                        primary_key=True,
                        serialize=False,
                    ),
                ),
                ("token", _TOKEN.clone()),
                ("day", models.DateField()),
                ("recipient", _ADDRESS.clone()),
                ("currency", _ADDRESS.clone()),
                ("amount", tokens.models.trade.ExactNumericField()),
            ],
        ),
        migrations.CreateModel(
            name="AccountClaimSum",
            fields=[
                (
                    "pk",
                    models.CompositePrimaryKey(
                        "chain_id",
                        "recipient",
                        "currency",
                        "day",
                        blank=True,
                        editable=False,
                        primary_key=True,
                        serialize=False,
                    ),
                ),
                ("chain_id", models.BigIntegerField()),
                ("recipient", _ADDRESS.clone()),
                ("currency", _ADDRESS.clone()),
                ("day", models.DateField()),
                ("amount", tokens.models.trade.ExactNumericField()),
            ],
        ),
        migrations.RunSQL(RECOUNT, "DROP FUNCTION recount_fee_day(bigint, date);"),
        # Blocks are filled in their order, after all changes before them are stored.
        make_fill("fill_collections", ADD_COLLECTIONS, EVENTS_OF_BLOCKS),
        *make_triggers("tokens_tokenevent", "sum_collections", ADD_COLLECTIONS + DIVIDE_DAYS),
    ]
