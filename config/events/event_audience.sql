-- The former version writes and reads owner 0 for operators and owner -1 for the stream. These triggers keep `audience`
-- and `owner_id` in step, in both directions. The version after this one drops them, and sets such owners to NULL.
CREATE OR REPLACE FUNCTION bridge_event_audience() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF NEW.owner_id IS NULL THEN
        NEW.owner_id := CASE NEW.audience WHEN 'operators' THEN 0 ELSE -1 END;
    ELSE
        NEW.audience := CASE NEW.owner_id WHEN 0 THEN 'operators' WHEN -1 THEN 'stream' ELSE 'partner' END;
    END IF;
    RETURN NEW;
END
$$;

CREATE OR REPLACE TRIGGER audience_of_event BEFORE INSERT ON events_event FOR EACH ROW
    WHEN (NEW.owner_id IS NULL AND NEW.audience IN ('operators', 'stream')
        OR NEW.owner_id IS NOT NULL AND NEW.audience = 'public')
    EXECUTE FUNCTION bridge_event_audience();

CREATE OR REPLACE TRIGGER audience_of_event BEFORE INSERT ON events_outboxevent FOR EACH ROW
    WHEN (NEW.owner_id IS NULL AND NEW.audience IN ('operators', 'stream')
        OR NEW.owner_id IS NOT NULL AND NEW.audience = 'public')
    EXECUTE FUNCTION bridge_event_audience();
