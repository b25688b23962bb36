"""PostgreSQL tables that refuse old tokens."""

from __future__ import annotations

import random
import threading
import unittest
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import postgres

FENCE = (Path(__file__).parent.parent / "postgres.sql").read_text(encoding="utf-8")
OLD = "BW001"
WRITERS = 4
WRITES = 50


class Postgres(unittest.TestCase):
    server: postgres.Server

    @classmethod
    def setUpClass(cls) -> None:
        postgres.require()
        cls.server = postgres.Server()
        cls.addClassCleanup(cls.server.remove)

    def setUp(self) -> None:
        code, _, error = self.server.ask(
            f"{FENCE} TRUNCATE fences; DROP TABLE IF EXISTS rows; CREATE TABLE rows (at bigserial, token bigint);"
        )
        self.assertEqual(code, 0, error)

    def write(self, token: int, name: str = "backup") -> str:
        """Writes a row with that token: why not, if not."""
        sql = f"BEGIN; SELECT fence('{name}', {token}); INSERT INTO rows (token) VALUES ({token}); COMMIT;"
        code, _, error = self.server.ask(sql)
        return "" if code == 0 else error

    def rows(self) -> list[int]:
        return [int(token) for token in self.server.ask("SELECT token FROM rows ORDER BY at")[1].split()]

    def talk(self) -> postgres.Talk:
        talk = postgres.Talk(self.server)
        self.addCleanup(talk.close)
        return talk

    def wait_for_a_wait(self) -> None:
        """Until one of the connections waits for a lock."""
        waits = "SELECT count(*) FROM pg_stat_activity WHERE wait_event_type = 'Lock'"
        for _ in range(round(postgres.DEADLINE / postgres.LOOK_EVERY)):
            if self.server.ask(waits)[1] != "0":
                return
            threading.Event().wait(postgres.LOOK_EVERY)
        raise AssertionError("nobody waits")

    def test_an_old_token_is_refused_and_nothing_of_its_transaction_is_written(self) -> None:
        self.assertEqual([self.write(token) for token in (7, 7, 9)], ["", "", ""])
        refused = self.write(8)
        self.assertIn(OLD, refused)
        self.assertIn("token 8 of backup is old: 9 has been seen", refused)
        self.assertEqual(self.write(9), "")
        self.assertEqual(self.rows(), [7, 7, 9, 9])
        self.assertEqual(self.write(1, name="another"), "")

    def test_the_largest_token_survives_a_crash(self) -> None:
        self.assertEqual(self.write(9), "")
        self.server.crash()
        self.server.start()
        self.assertIn(OLD, self.write(8))
        self.assertEqual(self.write(10), "")
        self.assertEqual(self.rows(), [9, 10])

    def test_a_transaction_that_passed_is_waited_for_and_comes_before(self) -> None:
        old, new = self.talk(), self.talk()
        self.assertEqual(old.do("BEGIN; SELECT fence('backup', 7); INSERT INTO rows (token) VALUES (7);").strip(), "")
        new.say("BEGIN; SELECT fence('backup', 8); INSERT INTO rows (token) VALUES (8); COMMIT;")
        self.wait_for_a_wait()
        self.assertEqual(old.do("COMMIT;"), "")
        self.assertEqual(new.hear().strip(), "")
        self.assertIn(OLD, old.do("BEGIN; SELECT fence('backup', 7); INSERT INTO rows (token) VALUES (7); COMMIT;"))
        self.assertEqual(self.rows(), [7, 8])

    def test_who_waits_at_the_fence_while_a_larger_token_passes_is_refused(self) -> None:
        for isolation in ("READ COMMITTED", "REPEATABLE READ", "SERIALIZABLE"):
            with self.subTest(isolation=isolation):
                self.setUp()
                old, new = self.talk(), self.talk()
                old.do(f"BEGIN ISOLATION LEVEL {isolation}; SELECT count(*) FROM rows;")
                new.do(f"BEGIN ISOLATION LEVEL {isolation}; SELECT fence('backup', 8); INSERT INTO rows (token) VALUES (8);")
                old.say("SELECT fence('backup', 7); INSERT INTO rows (token) VALUES (7);")
                self.wait_for_a_wait()
                self.assertEqual(new.do("COMMIT;"), "")
                # Where a transaction sees one state, that it changed is the error.
                self.assertRegex(old.hear(), f"{OLD}|40001")
                old.do("COMMIT;")
                self.assertEqual(self.rows(), [8])

    def test_writers_with_one_token_do_not_wait_for_each_other(self) -> None:
        self.assertEqual(self.write(7), "")
        one, two = self.talk(), self.talk()
        one.do("BEGIN; SELECT fence('backup', 7); INSERT INTO rows (token) VALUES (7);")
        two.do("BEGIN; SELECT fence('backup', 7); INSERT INTO rows (token) VALUES (7); COMMIT;")
        one.do("COMMIT;")
        self.assertEqual(self.rows(), [7, 7, 7])

    def test_a_holder_that_stopped_in_the_middle_does_not_keep_its_successor_waiting(self) -> None:
        old, new = self.talk(), self.talk()
        old.do("SET idle_in_transaction_session_timeout = '100ms';")
        old.do("BEGIN; SELECT fence('backup', 7); INSERT INTO rows (token) VALUES (7);")
        self.assertEqual(new.do("BEGIN; SELECT fence('backup', 8); COMMIT;").strip(), "")
        self.assertIn("terminating connection", old.do("COMMIT;"))
        self.assertEqual(self.rows(), [])

    def test_whatever_happens_at_once_tokens_never_go_back(self) -> None:
        def write(number: int) -> int:
            chance, token, talk, refused = random.Random(number), number + 1, self.talk(), 0
            for _ in range(WRITES):
                said = talk.do(
                    f"BEGIN; SELECT fence('backup', {token}); INSERT INTO rows (token) VALUES ({token}); COMMIT;"
                )
                self.assertNotIn("deadlock", said)
                refused += OLD in said
                token += WRITERS * (chance.random() < 0.3)
            return refused

        with ThreadPoolExecutor(WRITERS) as pool:
            refused = sum(pool.map(write, range(WRITERS)))
        rows = self.rows()
        self.assertEqual(rows, sorted(rows))
        self.assertEqual(len(rows) + refused, WRITERS * WRITES)


if __name__ == "__main__":
    unittest.main()
