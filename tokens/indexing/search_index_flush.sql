-- New search entries go to the index's pending list, which each search reads through. The trigger merges the list at
-- the end of each statement. The index does not exist while it is built anew, such as when sample tokens are added.
CREATE OR REPLACE FUNCTION sort_in_search_entries() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    PERFORM gin_clean_pending_list(entries)
        FROM to_regclass('search_by_everything') AS entries WHERE entries IS NOT NULL;
    RETURN NULL;
END
$$;

CREATE OR REPLACE TRIGGER search_entries_are_sorted_in AFTER INSERT OR UPDATE ON tokens_searchentry
    FOR EACH STATEMENT EXECUTE FUNCTION sort_in_search_entries();
