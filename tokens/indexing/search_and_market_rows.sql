-- Each token has a search entry and a market row from its INSERT on, whoever writes it: lists that are searched, or
-- sorted by market data, read these tables first, and would lack a token without its rows.
CREATE OR REPLACE FUNCTION add_rows_of_tokens() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    INSERT INTO tokens_market (token_id) SELECT id FROM added ON CONFLICT DO NOTHING;
    INSERT INTO tokens_searchentry (token_id, is_listed, text, deployed_at, chain_id, msg_sender, requestor_fid,
        champagne, pair, paired_token, pool_address, interface)
        SELECT id, NOT (blocked OR unindexed), fold_case(name) || E'\n' || fold_case(symbol), deployed_at, chain_id,
            msg_sender, requestor_fid, champagne, lower(pair), paired_token, pool_address,
            COALESCE("left"(lower(social_context ->> 'interface'), 101), '')
        FROM added ON CONFLICT DO NOTHING;
    RETURN NULL;
END
$$;

CREATE OR REPLACE TRIGGER token_has_rows AFTER INSERT ON tokens_token REFERENCING NEW TABLE AS added
    FOR EACH STATEMENT EXECUTE FUNCTION add_rows_of_tokens();

-- The columns of the search entry are the same as above. The trigger compares the columns that they read.
CREATE OR REPLACE FUNCTION update_search_entry() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    UPDATE tokens_searchentry SET (token_id, is_listed, text, deployed_at, chain_id, msg_sender, requestor_fid,
        champagne, pair, paired_token, pool_address, interface)
        = (SELECT id, NOT (blocked OR unindexed), fold_case(name) || E'\n' || fold_case(symbol), deployed_at, chain_id,
            msg_sender, requestor_fid, champagne, lower(pair), paired_token, pool_address,
            COALESCE("left"(lower(social_context ->> 'interface'), 101), '')
        FROM (SELECT NEW.*) AS changed)
    WHERE token_id = NEW.id;
    RETURN NULL;
END
$$;

CREATE OR REPLACE TRIGGER search_entry_follows AFTER UPDATE ON tokens_token FOR EACH ROW
    WHEN ((OLD.blocked, OLD.unindexed, OLD.name, OLD.symbol, OLD.deployed_at, OLD.chain_id, OLD.msg_sender,
            OLD.requestor_fid, OLD.champagne, OLD.pair, OLD.paired_token, OLD.pool_address, OLD.social_context)
        IS DISTINCT FROM (NEW.blocked, NEW.unindexed, NEW.name, NEW.symbol, NEW.deployed_at, NEW.chain_id,
            NEW.msg_sender, NEW.requestor_fid, NEW.champagne, NEW.pair, NEW.paired_token, NEW.pool_address,
            NEW.social_context))
    EXECUTE FUNCTION update_search_entry();
