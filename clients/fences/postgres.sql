-- PostgreSQL tables that refuse old tokens.
--
--     BEGIN;
--     SELECT fence('backup', 7);
--     INSERT INTO …;
--     COMMIT;
--
-- Call it first in the transaction that writes. An old token raises an error, and nothing of the transaction is written. Writers with one
-- token do not wait for each other. A larger token waits until transactions with smaller ones that have passed the fence are over: so
-- set idle_in_transaction_session_timeout, or a holder that is stopped in the middle keeps its successor waiting.

CREATE TABLE IF NOT EXISTS fences (
    name  text   PRIMARY KEY,
    token bigint NOT NULL CHECK (token > 0)
);

CREATE OR REPLACE FUNCTION fence(name text, token bigint) RETURNS void LANGUAGE plpgsql AS $$
#variable_conflict use_column
DECLARE
    seen bigint;
BEGIN
    -- The strong lock only if the token is new here: taking the weak one first, and then the strong one, could end in a deadlock.
    IF NOT EXISTS (SELECT FROM fences f WHERE f.name = fence.name AND f.token >= fence.token) THEN
        INSERT INTO fences AS f (name, token) VALUES (fence.name, fence.token)
        ON CONFLICT (name) DO UPDATE SET token = EXCLUDED.token WHERE f.token < EXCLUDED.token;
    END IF;
    SELECT f.token INTO STRICT seen FROM fences f WHERE f.name = fence.name FOR SHARE;
    IF seen > fence.token THEN
        RAISE EXCEPTION 'token % of % is old: % has been seen', fence.token, fence.name, seen
            USING ERRCODE = 'BW001', HINT = 'Another holds it now. Stop.';
    END IF;
END
$$;
