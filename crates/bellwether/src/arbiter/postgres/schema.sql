-- Elections in PostgreSQL: a row for each name, with its token.
--
-- Whoever wants a name is a candidate in a session. Sessions end when they are not renewed in time, by the clock of this server. Every
-- function is one transaction of its own. Locks are taken in one order: a session, then one name; only `bury` locks more names, in
-- the order of their names.

CREATE SCHEMA IF NOT EXISTS bellwether;

CREATE TABLE IF NOT EXISTS bellwether.version (
    is_this boolean PRIMARY KEY DEFAULT true CHECK (is_this),
    version int     NOT NULL
);
INSERT INTO bellwether.version (version) VALUES (1) ON CONFLICT DO NOTHING;

CREATE TABLE IF NOT EXISTS bellwether.sessions (
    id      uuid        PRIMARY KEY DEFAULT gen_random_uuid(),
    ttl     interval    NOT NULL,
    expires timestamptz NOT NULL
);

-- A row is never deleted: its token must not be given again.
CREATE TABLE IF NOT EXISTS bellwether.elections (
    name    text   PRIMARY KEY,
    token   bigint NOT NULL DEFAULT 0,
    changes bigint NOT NULL DEFAULT 0,
    changed timestamptz NOT NULL DEFAULT clock_timestamp(),
    holder  bigint
);
CREATE INDEX IF NOT EXISTS elections_by_change ON bellwether.elections (changed);

CREATE TABLE IF NOT EXISTS bellwether.candidates (
    number   bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    name     text   NOT NULL REFERENCES bellwether.elections,
    session  uuid   NOT NULL REFERENCES bellwether.sessions,
    slot     bigint NOT NULL,
    priority bigint NOT NULL,
    value    bytea  NOT NULL,
    UNIQUE (session, name, slot)
);
CREATE INDEX IF NOT EXISTS candidates_of_a_name ON bellwether.candidates (name);

-- What is told is on disk, whatever the database's default is.
CREATE OR REPLACE FUNCTION bellwether.durably() RETURNS void LANGUAGE plpgsql AS $$
BEGIN
    IF current_setting('synchronous_commit') = 'off' THEN PERFORM set_config('synchronous_commit', 'on', true); END IF;
END
$$;

CREATE OR REPLACE FUNCTION bellwether.open(ttl_ms bigint) RETURNS text LANGUAGE sql AS $$
    INSERT INTO bellwether.sessions (ttl, expires)
    VALUES (ttl_ms * interval '1 ms', clock_timestamp() + ttl_ms * interval '1 ms') RETURNING id::text;
$$;

-- The next one holds the name. Whoever calls this has locked its row.
CREATE OR REPLACE FUNCTION bellwether.grant_next(of_name text) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
    next bigint;
BEGIN
    SELECT c.number INTO next FROM bellwether.candidates c JOIN bellwether.sessions s ON s.id = c.session
    WHERE c.name = of_name
    ORDER BY s.expires > clock_timestamp() DESC, c.priority DESC, c.number LIMIT 1;
    UPDATE bellwether.elections e SET holder = next, token = e.token + (next IS NOT NULL)::int WHERE e.name = of_name;
END
$$;

CREATE OR REPLACE FUNCTION bellwether.has_changed(of_name text) RETURNS bigint LANGUAGE plpgsql AS $$
DECLARE
    changed bigint;
BEGIN
    UPDATE bellwether.elections e SET changes = e.changes + 1, changed = clock_timestamp()
    WHERE e.name = of_name RETURNING e.changes INTO changed;
    PERFORM bellwether.durably();
    PERFORM pg_notify('bellwether', of_name);
    RETURN changed;
END
$$;

-- Who it is, and from which change of the line on; nothing if the session has ended.
CREATE OR REPLACE FUNCTION bellwether.enter(
    of_session text, of_name text, of_slot bigint, of_priority bigint, of_value bytea,
    OUT number bigint, OUT at bigint
) LANGUAGE plpgsql AS $$
DECLARE
    holds bigint;
BEGIN
    PERFORM FROM bellwether.sessions s WHERE s.id = of_session::uuid FOR KEY SHARE;
    IF NOT FOUND THEN RETURN; END IF;
    INSERT INTO bellwether.elections AS e (name) VALUES (of_name) ON CONFLICT DO NOTHING;
    SELECT e.holder, e.changes INTO holds, at FROM bellwether.elections e WHERE e.name = of_name FOR UPDATE;
    SELECT c.number INTO number FROM bellwether.candidates c
    WHERE c.session = of_session::uuid AND c.name = of_name AND c.slot = of_slot;
    IF FOUND THEN RETURN; END IF;
    INSERT INTO bellwether.candidates AS c (name, session, slot, priority, value)
    VALUES (of_name, of_session::uuid, of_slot, of_priority, of_value) RETURNING c.number INTO number;
    IF holds IS NULL THEN PERFORM bellwether.grant_next(of_name); END IF;
    at := bellwether.has_changed(of_name);
END
$$;

CREATE OR REPLACE FUNCTION bellwether.leave(of_name text, of_number bigint) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
    holds bigint;
BEGIN
    SELECT e.holder INTO holds FROM bellwether.elections e WHERE e.name = of_name FOR UPDATE;
    DELETE FROM bellwether.candidates c WHERE c.number = of_number AND c.name = of_name;
    IF NOT FOUND THEN RETURN; END IF;
    IF holds = of_number THEN PERFORM bellwether.grant_next(of_name); END IF;
    PERFORM bellwether.has_changed(of_name);
END
$$;

CREATE OR REPLACE FUNCTION bellwether.proclaim(of_name text, of_number bigint, of_value bytea) RETURNS boolean LANGUAGE plpgsql AS $$
BEGIN
    PERFORM FROM bellwether.elections e WHERE e.name = of_name AND e.holder = of_number FOR UPDATE;
    IF NOT FOUND THEN RETURN false; END IF;
    UPDATE bellwether.candidates c SET value = of_value WHERE c.number = of_number;
    PERFORM bellwether.has_changed(of_name);
    RETURN true;
END
$$;

-- Ends a session, if it may be: one that was renewed in time stays, unless that is what its owner wants.
CREATE OR REPLACE FUNCTION bellwether.bury(of_session text, by_owner boolean) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
    left_behind record;
BEGIN
    PERFORM FROM bellwether.sessions s
    WHERE s.id = of_session::uuid AND (by_owner OR s.expires < clock_timestamp()) FOR UPDATE;
    IF NOT FOUND THEN RETURN; END IF;
    FOR left_behind IN
        SELECT c.name, array_agg(c.number) AS numbers FROM bellwether.candidates c
        WHERE c.session = of_session::uuid GROUP BY c.name ORDER BY c.name
    LOOP
        PERFORM FROM bellwether.elections e WHERE e.name = left_behind.name FOR UPDATE;
        DELETE FROM bellwether.candidates c WHERE c.number = ANY (left_behind.numbers);
        IF EXISTS (
            SELECT FROM bellwether.elections e
            WHERE e.name = left_behind.name AND e.holder = ANY (left_behind.numbers)
        ) THEN
            PERFORM bellwether.grant_next(left_behind.name);
        END IF;
        PERFORM bellwether.has_changed(left_behind.name);
    END LOOP;
    DELETE FROM bellwether.sessions s WHERE s.id = of_session::uuid;
END
$$;

-- The lines of these names; of all that anybody wants, if there are none given. The holder is the first.
CREATE OR REPLACE FUNCTION bellwether.lines(of_names text[]) RETURNS json LANGUAGE sql STABLE AS $$
    SELECT coalesce(json_agg(line), '[]') FROM (
        SELECT e.name, e.token, e.changes AS at,
            (SELECT translate(encode(c.value, 'base64'), E'\n', '')
             FROM bellwether.candidates c WHERE c.number = e.holder) AS value,
            (SELECT coalesce(json_agg(json_build_object('session', c.session, 'slot', c.slot, 'number', c.number)
                             ORDER BY c.number = e.holder DESC, c.priority DESC, c.number), '[]')
             FROM bellwether.candidates c WHERE c.name = e.name) AS tickets
        FROM bellwether.elections e
        WHERE CASE WHEN of_names IS NULL THEN e.holder IS NOT NULL ELSE e.name = ANY (of_names) END
    ) line;
$$;

-- Renews a session, and says for how long, what time it is here, which sessions have ended by the clock, and the lines of all names
-- that this one wants or that have changed lately: who hears of no change hears it with the next renewal. Nothing if the session has
-- ended.
CREATE OR REPLACE FUNCTION bellwether.renew(of_session text) RETURNS json LANGUAGE plpgsql AS $$
DECLARE
    lasts interval;
BEGIN
    UPDATE bellwether.sessions s SET expires = clock_timestamp() + s.ttl
    WHERE s.id = of_session::uuid RETURNING s.ttl INTO lasts;
    IF NOT FOUND THEN RETURN NULL; END IF;
    PERFORM bellwether.durably();
    RETURN json_build_object(
        'ttl_ms', (extract(epoch FROM lasts) * 1000)::bigint,
        'clock_ms', (extract(epoch FROM clock_timestamp()) * 1000)::bigint,
        'ended', (SELECT coalesce(json_agg(s.id), '[]') FROM bellwether.sessions s WHERE s.expires < clock_timestamp()),
        'lines', bellwether.lines(ARRAY(
            SELECT c.name FROM bellwether.candidates c WHERE c.session = of_session::uuid
            UNION SELECT e.name FROM bellwether.elections e WHERE e.changed > clock_timestamp() - lasts
        ))
    );
END
$$;

-- What follows is in the schema, too: `SELECT bellwether.fence('backup', 7)`, first in the transaction that only the holder may perform.
