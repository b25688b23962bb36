"""An SQLite database that refuses old tokens."""

from __future__ import annotations

import os
import sqlite3
import tempfile
import unittest
from contextlib import closing

from writers import WRITERS, WRITES, race

from sqlite_fence import OldToken, fence, prepare


def open_database(path: str) -> sqlite3.Connection:
    connection = sqlite3.connect(path, timeout=30)
    prepare(connection)
    connection.execute("CREATE TABLE IF NOT EXISTS rows (at INTEGER PRIMARY KEY AUTOINCREMENT, token INTEGER)")
    return connection


def write(path: str, token: int) -> bool:
    with closing(open_database(path)) as connection:
        try:
            with connection:
                fence(connection, "backup", token)
                connection.execute("INSERT INTO rows (token) VALUES (?)", (token,))
        except OldToken:
            return False
        return True


def rows(path: str) -> list[int]:
    with closing(open_database(path)) as connection:
        return [token for (token,) in connection.execute("SELECT token FROM rows ORDER BY at")]


class Sqlite(unittest.TestCase):
    def setUp(self) -> None:
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.path = os.path.join(folder.name, "rows.db")

    def test_an_old_token_is_refused_and_the_largest_survives_a_restart(self) -> None:
        self.assertEqual([write(self.path, token) for token in (7, 7, 9, 8, 9)], [True, True, True, False, True])
        self.assertEqual(rows(self.path), [7, 7, 9, 9])

    def test_names_have_tokens_of_their_own(self) -> None:
        self.assertTrue(write(self.path, 9))
        with closing(open_database(self.path)) as connection, connection:
            fence(connection, "another", 1)

    def test_a_transaction_that_is_rolled_back_leaves_no_token_behind(self) -> None:
        with closing(open_database(self.path)) as connection:
            fence(connection, "backup", 9)
            self.assertTrue(connection.in_transaction)
            connection.rollback()
        self.assertTrue(write(self.path, 8))

    def test_who_passed_the_fence_is_waited_for_and_its_rows_come_before(self) -> None:
        with closing(open_database(self.path)) as old, closing(open_database(self.path)) as new:
            fence(old, "backup", 7)
            new.execute("PRAGMA busy_timeout = 0")
            with self.assertRaises(sqlite3.OperationalError):
                fence(new, "backup", 8)
            new.rollback()
            old.execute("INSERT INTO rows (token) VALUES (7)")
            old.commit()
            fence(new, "backup", 8)
            new.commit()
            with self.assertRaises(OldToken):
                fence(old, "backup", 7)

    def test_whatever_happens_at_once_tokens_never_go_back(self) -> None:
        open_database(self.path).close()
        refused = race(write, self.path)
        tokens = rows(self.path)
        self.assertEqual(tokens, sorted(tokens))
        self.assertEqual(len(tokens) + refused, WRITERS * WRITES)


if __name__ == "__main__":
    unittest.main()
