"""An SQLite database that refuses old tokens.

The largest token is beside what it protects, and is compared in the same transaction that writes::

    with connection:
        fence(connection, "backup", leadership.check())
        connection.execute("INSERT INTO …")
"""

from __future__ import annotations

import sqlite3

SCHEMA = "CREATE TABLE IF NOT EXISTS fences (name TEXT PRIMARY KEY, token INTEGER NOT NULL) WITHOUT ROWID"

# It changes no row if a larger token is there.
_RAISE = """
    INSERT INTO fences (name, token) VALUES (?, ?)
    ON CONFLICT (name) DO UPDATE SET token = excluded.token WHERE excluded.token >= token
"""


class OldToken(Exception):
    """Somebody with a larger token has been there."""


def prepare(connection: sqlite3.Connection) -> None:
    """Makes the table, if there is none. Whatever is committed survives a loss of power from here on."""
    connection.execute("PRAGMA synchronous = FULL")
    connection.execute(SCHEMA)


def fence(connection: sqlite3.Connection, name: str, token: int) -> None:
    """Goes on only with a token that is not old. It begins the transaction, which locks out other writers until it ends, if none was
    begun. Call it first: then nobody with a larger token can come in between."""
    if connection.execute(_RAISE, (name, token)).rowcount == 0:
        seen = connection.execute("SELECT token FROM fences WHERE name = ?", (name,)).fetchone()[0]
        raise OldToken(f"{name}: token {token} is old: {seen} has been seen")
