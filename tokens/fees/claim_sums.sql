-- Daily sums of fee claims. The same statements are in the trigger functions for INSERT, DELETE and UPDATE of claims,
-- and in `fill_claims`, which fee_sums.py calls for blocks that were stored before the triggers existed.
DO $do$
DECLARE
    -- {claims} is a query for claims with `sign`: 1 adds an amount, -1 subtracts it. An event that names a currency
    -- belongs to all tokens that pay it: only events of a token's own locker or pool count for the token. A claim is
    -- deleted before its event, so that the join finds the event.
    statements CONSTANT text := $sql$
    INSERT INTO tokens_accountclaimsum AS stored (chain_id, recipient, currency, day, amount)
        SELECT claim.chain_id, claim.recipient, claim.currency, (claim.at AT TIME ZONE 'UTC')::date,
            sum(claim.sign * claim.amount)
        FROM ({claims}) AS claim JOIN tokens_tokenevent AS event ON event.id = claim.event_id
        JOIN tokens_feesumprogress AS progress
            ON progress.chain_id = event.chain_id AND event.block_number <= progress.summed_to
        GROUP BY 1, 2, 3, 4 ORDER BY 1, 2, 3, 4
        ON CONFLICT (chain_id, recipient, currency, day) DO UPDATE SET amount = stored.amount + EXCLUDED.amount;
    INSERT INTO tokens_claimsum AS stored (token_id, day, recipient, currency, amount)
        SELECT event.token_id, (claim.at AT TIME ZONE 'UTC')::date, claim.recipient, claim.currency,
            sum(claim.sign * claim.amount)
        FROM ({claims}) AS claim JOIN tokens_tokenevent AS event ON event.id = claim.event_id
        JOIN tokens_feesumprogress AS progress
            ON progress.chain_id = event.chain_id AND event.block_number <= progress.summed_to
        WHERE event.token_id IS NOT NULL AND event.kind = 'fees_claimed' AND NOT event.arguments ? 'token'
        GROUP BY 1, 2, 3, 4 ORDER BY 1, 2, 3, 4
        ON CONFLICT (token_id, day, recipient, currency) DO UPDATE SET amount = stored.amount + EXCLUDED.amount;
$sql$;
    of_blocks CONSTANT text := $sql$
            SELECT 1 AS sign, claim.* FROM tokens_tokenevent AS event
            JOIN tokens_feeclaim AS claim ON claim.event_id = event.id
            WHERE event.chain_id = of_chain AND event.block_number > after_block AND event.block_number <= up_to_block
        $sql$;
    statement text;
    claims text;
BEGIN
    FOR statement, claims IN VALUES
        ('insert', 'SELECT 1 AS sign, * FROM added'),
        ('delete', 'SELECT -1 AS sign, * FROM dropped'),
        -- A row that is rewritten unchanged is neither.
        ('update', $sql$
            SELECT 1 AS sign, changed.* FROM (TABLE added EXCEPT ALL TABLE dropped) AS changed
            UNION ALL SELECT -1, changed.* FROM (TABLE dropped EXCEPT ALL TABLE added) AS changed
        $sql$)
    LOOP
        EXECUTE format(
            'CREATE OR REPLACE FUNCTION sum_claims_on_%s() RETURNS trigger LANGUAGE plpgsql AS %L',
            statement, 'BEGIN' || replace(statements, '{claims}', claims) || E'    RETURN NULL;\nEND'
        );
    END LOOP;
    EXECUTE format(
        'CREATE OR REPLACE FUNCTION fill_claims(of_chain bigint, after_block bigint, up_to_block bigint)'
        ' RETURNS void LANGUAGE plpgsql AS %L',
        'BEGIN' || replace(statements, '{claims}', of_blocks) || 'END'
    );
END
$do$;

CREATE OR REPLACE TRIGGER sum_claims_on_insert AFTER INSERT ON tokens_feeclaim
    REFERENCING NEW TABLE AS added FOR EACH STATEMENT EXECUTE FUNCTION sum_claims_on_insert();

CREATE OR REPLACE TRIGGER sum_claims_on_delete AFTER DELETE ON tokens_feeclaim
    REFERENCING OLD TABLE AS dropped FOR EACH STATEMENT EXECUTE FUNCTION sum_claims_on_delete();

CREATE OR REPLACE TRIGGER sum_claims_on_update AFTER UPDATE ON tokens_feeclaim
    REFERENCING NEW TABLE AS added OLD TABLE AS dropped FOR EACH STATEMENT EXECUTE FUNCTION sum_claims_on_update();
