-- Daily sums of the fees that v4 collects. The same statements are in the trigger functions for INSERT, DELETE and
-- UPDATE of events, and in `fill_collections`, which fee_sums.py calls for blocks that were stored before the triggers
-- existed: block by block, after all changes before them are stored.
DO $do$
DECLARE
    -- `parts` joins the last change of a recipient before a collection, and the collection's amounts: each list has one
    -- for each share. A change on the collection's day divides the day: `since` is its position.
    since CONSTANT text :=
        $sql$CASE WHEN before.day = (event.at AT TIME ZONE 'UTC')::date THEN before.position ELSE 0 END$sql$;
    parts CONSTANT text := $sql$LEFT JOIN LATERAL (
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
        ) AS part$sql$;
    -- {events} is a query for events with `sign`: 1 adds an amount, -1 subtracts it. The statement reads progress after
    -- the writer took the chain's lock: the fill moves it under the same lock.
    add_collections CONSTANT text := $sql$
    INSERT INTO tokens_collectionsum AS stored (token_id, day, since, share, place, amount, first_block, last_block)
        SELECT event.token_id, (event.at AT TIME ZONE 'UTC')::date, {since}, part.share - 1, part.place,
            sum(event.sign * part.amount), min(event.block_number), max(event.block_number)
        FROM ({events}) AS event
        JOIN tokens_feesumprogress AS progress
            ON progress.chain_id = event.chain_id AND event.block_number <= progress.summed_to
        {parts}
        WHERE event.kind = 'fees_collected' AND event.token_id IS NOT NULL AND part.amount <> 0
        GROUP BY 1, 2, 3, 4, 5 ORDER BY 1, 2, 3, 4, 5
        ON CONFLICT (token_id, day, since, share, place) DO UPDATE SET amount = stored.amount + EXCLUDED.amount,
            first_block = LEAST(stored.first_block, EXCLUDED.first_block),
            last_block = GREATEST(stored.last_block, EXCLUDED.last_block);
$sql$;
    -- A change divides later collections. Without one in the sums, as at the head, no day is divided again.
    divide_days CONSTANT text := $sql$
    PERFORM recount_fee_day(token_id, day) FROM (
        SELECT DISTINCT event.token_id, (event.at AT TIME ZONE 'UTC')::date AS day
        FROM ({events}) AS event
        JOIN tokens_feesumprogress AS progress
            ON progress.chain_id = event.chain_id AND event.block_number <= progress.summed_to
        WHERE event.kind = 'reward_recipient_updated' AND EXISTS (
            SELECT FROM tokens_collectionsum AS stored
            WHERE stored.token_id = event.token_id AND stored.day = (event.at AT TIME ZONE 'UTC')::date
                AND stored.last_block >= event.block_number
        )
    ) AS changed;
$sql$;
    -- For a change that is stored or deleted after collections of its day. The sums have their blocks, so that no other
    -- event of the token is read.
    recount CONSTANT text := $sql$
DECLARE
    first_of_day bigint;
    last_of_day bigint;
BEGIN
    SELECT min(first_block), max(last_block) INTO first_of_day, last_of_day
        FROM tokens_collectionsum WHERE token_id = of_token AND day = of_day;
    DELETE FROM tokens_collectionsum WHERE token_id = of_token AND day = of_day;
    INSERT INTO tokens_collectionsum (token_id, day, since, share, place, amount, first_block, last_block)
        SELECT of_token, of_day, {since}, part.share - 1, part.place, sum(part.amount),
            min(event.block_number), max(event.block_number)
        FROM tokens_tokenevent AS event
        {parts}
        WHERE event.token_id = of_token AND event.kind = 'fees_collected'
            AND event.block_number BETWEEN first_of_day AND last_of_day
            AND (event.at AT TIME ZONE 'UTC')::date = of_day AND part.amount <> 0
        GROUP BY 3, 4, 5;
END
$sql$;
    of_blocks CONSTANT text := $sql$
            SELECT 1 AS sign, * FROM tokens_tokenevent
            WHERE chain_id = of_chain AND block_number > after_block AND block_number <= up_to_block
        $sql$;
    collections CONSTANT text := replace(replace(add_collections, '{since}', since), '{parts}', parts);
    statement text;
    events text;
BEGIN
    EXECUTE format(
        'CREATE OR REPLACE FUNCTION recount_fee_day(of_token bigint, of_day date) RETURNS void LANGUAGE plpgsql AS %L',
        replace(replace(recount, '{since}', since), '{parts}', parts)
    );
    EXECUTE format(
        'CREATE OR REPLACE FUNCTION fill_collections(of_chain bigint, after_block bigint, up_to_block bigint)'
        ' RETURNS void LANGUAGE plpgsql AS %L',
        'BEGIN' || replace(collections, '{events}', of_blocks) || 'END'
    );
    FOR statement, events IN VALUES
        ('insert', 'SELECT 1 AS sign, * FROM added'),
        ('delete', 'SELECT -1 AS sign, * FROM dropped'),
        -- A row that is rewritten unchanged is neither.
        ('update', $sql$
            SELECT 1 AS sign, changed.* FROM (TABLE added EXCEPT ALL TABLE dropped) AS changed
            UNION ALL SELECT -1, changed.* FROM (TABLE dropped EXCEPT ALL TABLE added) AS changed
        $sql$)
    LOOP
        EXECUTE format(
            'CREATE OR REPLACE FUNCTION sum_collections_on_%s() RETURNS trigger LANGUAGE plpgsql AS %L',
            statement, 'BEGIN' || replace(collections || divide_days, '{events}', events) || E'    RETURN NULL;\nEND'
        );
    END LOOP;
END
$do$;

CREATE OR REPLACE TRIGGER sum_collections_on_insert AFTER INSERT ON tokens_tokenevent
    REFERENCING NEW TABLE AS added FOR EACH STATEMENT EXECUTE FUNCTION sum_collections_on_insert();

CREATE OR REPLACE TRIGGER sum_collections_on_delete AFTER DELETE ON tokens_tokenevent
    REFERENCING OLD TABLE AS dropped FOR EACH STATEMENT EXECUTE FUNCTION sum_collections_on_delete();

CREATE OR REPLACE TRIGGER sum_collections_on_update AFTER UPDATE ON tokens_tokenevent
    REFERENCING NEW TABLE AS added OLD TABLE AS dropped FOR EACH STATEMENT EXECUTE FUNCTION sum_collections_on_update();
