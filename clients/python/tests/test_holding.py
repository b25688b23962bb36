"""Names that are held, through both doors."""

from __future__ import annotations

import math
import os
import subprocess
import sys
import threading
import time
import unittest

from harness import DEADLINE, Beside, WithStandIn, wait_until

from bellwether import (
    Client,
    Conflict,
    Forbidden,
    Leadership,
    Lost,
    NotElected,
    SessionOver,
    clock,
    election,
)

DOORS = ("socket", "api")


class Holding(WithStandIn):
    def test_a_name_is_held_inside_of_with_and_given_back_after(self) -> None:
        for door in DOORS:
            with self.subTest(door=door):
                with self.client(door).election("backup", value="here") as leadership:
                    token = leadership.check()
                    self.assertEqual((token, leadership.token, leadership.name), (token, token, "backup"))
                    self.assertEqual((leadership.kind, self.holder("backup")), ("lease", token))
                    self.assertFalse(leadership.lost.is_set() or leadership.stop.is_set())
                    self.assertGreater(leadership.valid_for, 0)
                    self.assertIn("valid", repr(leadership))
                self.assertIsNone(self.holder("backup"))
                with self.assertRaises(Lost) as raised:
                    leadership.check()
                self.assertEqual((raised.exception.token, raised.exception.why), (token, "released"))
                self.assertEqual(leadership.valid_for, 0)

    def test_the_deadline_is_put_off_for_as_long_as_all_is_well(self) -> None:
        for door in DOORS:
            with self.subTest(door=door), self.client(door).election("backup") as leadership:
                first = leadership.valid_until
                self.assertLess(first, time.clock_gettime(time.CLOCK_BOOTTIME) + self.ttl + 0.01)
                wait_until(lambda: leadership.valid_until > first + self.ttl)
                leadership.check()

    def test_the_clock_ends_it_though_nothing_is_heard(self) -> None:
        for door in DOORS:
            with self.subTest(door=door), self.client(door).election("backup") as leadership:
                self.agent.names.renews = False
                with self.agent.names.lock:
                    # Not even the agent's word that it is lost comes through.
                    self.agent.names.valid_until = sys.maxsize
                    wait_until(leadership.lost.is_set)
                    self.assertGreaterEqual(time.clock_gettime(time.CLOCK_BOOTTIME), leadership.valid_until)
                    with self.assertRaises(Lost) as raised:
                        leadership.check()
                    self.assertEqual(raised.exception.why, "lease")
                    self.agent.names.renews, self.agent.names.valid_until = True, clock.now() + 1_000_000

    def test_check_looks_at_the_clock_itself(self) -> None:
        with self.client().election("backup") as leadership:
            wait_until(lambda: leadership.valid_for > 0)
            with leadership._lock:
                # The thread that would notice is kept out.
                leadership._valid_until = clock.now()
                self.assertFalse(leadership.lost.is_set())
                with self.assertRaises(Lost):
                    leadership.check()
                self.assertTrue(leadership.lost.is_set())

    def test_whoever_waits_is_next(self) -> None:
        for door in DOORS:
            with self.subTest(door=door):
                candidate = self.client(door).election("backup")
                with self.client(door).election("backup") as first:
                    second = Beside(candidate.__enter__)
                    wait_until(lambda: self.waiting("backup") == 1)
                    token = first.token
                self.assertEqual(second.result().check(), token + 1)
                candidate.__exit__(None, None, None)

    def test_who_waits_too_long_is_told_and_waits_no_more(self) -> None:
        with self.client().election("backup"):
            with self.assertRaises(NotElected) as raised:
                self.client().election("backup", timeout=0.2).__enter__()
            self.assertEqual((raised.exception.position, self.waiting("backup")), (1, 0))
            self.assertIsInstance(raised.exception, TimeoutError)

    def test_priorities_order_those_who_wait(self) -> None:
        with self.client().session() as session, self.client().election("backup"):
            session.campaign("backup", priority=1)
            with self.client().session() as other:
                preferred = other.campaign("backup", priority=2)
                wait_until(lambda: preferred.position == 1)

    def test_what_a_store_decides_has_no_deadline(self) -> None:
        for door in DOORS:
            with self.subTest(door=door), self.client(door).election("rows", kind="token") as leadership:
                self.assertEqual((leadership.valid_until, leadership.valid_for), (math.inf, math.inf))
                leadership.check()

    def test_the_kind_of_a_name_is_that_of_its_first_campaign(self) -> None:
        with self.client().election("rows", kind="token"), self.assertRaises(Conflict) as raised:
            self.client().election("rows", kind="lease").__enter__()
        self.assertIn("`token`", str(raised.exception))

    def test_a_change_over_tcp_needs_the_token(self) -> None:
        with self.assertRaises(Forbidden) as raised:
            Client(api=self.agent.api).election("backup").__enter__()
        self.assertIn("BELLWETHER_TOKEN", str(raised.exception))
        with self.assertRaises(Forbidden):
            Client(api=self.agent.api, token="wrong").election("backup").__enter__()

    def test_the_environment_says_where_the_agent_is(self) -> None:
        os.environ["BELLWETHER_SOCKET"] = self.agent.socket
        with election("backup") as leadership:
            self.assertEqual(leadership._campaign.session.death, "certain")
        del os.environ["BELLWETHER_SOCKET"]
        os.environ.update(BELLWETHER_API=f"http://{self.agent.api}/", BELLWETHER_TOKEN=self.agent.token)
        with election("backup") as leadership:
            self.assertEqual(leadership._campaign.session.death, "presumed")

    def test_an_error_inside_of_with_gives_the_name_back(self) -> None:
        with self.assertRaises(ZeroDivisionError), self.client().election("backup"):
            raise ZeroDivisionError
        self.assertIsNone(self.holder("backup"))


class AskedBack(WithStandIn):
    def test_who_is_asked_stops_and_gives_it_back(self) -> None:
        with self.client().election("backup") as leadership:
            asked = Beside(lambda: self.client().resign("backup"))
            self.assertTrue(leadership.stop.wait(DEADLINE))
            self.assertEqual(leadership.asked_back, "resign")
            leadership.check()
            leadership.release()
            self.assertIsNone(asked.result().holder)

    def test_who_does_not_stop_loses_it_all_the_same(self) -> None:
        losses: list[Lost] = []
        with self.client().election("backup", on_lost=losses.append) as leadership:
            with self.client().session() as session:
                next_one = session.campaign("backup")
                asked = Beside(lambda: self.client().transfer("backup", 1, token=leadership.token))
                self.assertTrue(leadership.lost.wait(DEADLINE))
                self.assertEqual(next_one.wait(DEADLINE).token, asked.result().token)
            wait_until(lambda: losses)
        self.assertEqual([(loss.why, loss.token) for loss in losses], [("transferred", leadership.token)])
        # It does not wait for what it lost.
        wait_until(lambda: self.waiting("backup") == 0 and self.holder("backup") is None)

    def test_on_lost_is_not_told_of_what_was_given_back(self) -> None:
        losses: list[Lost] = []
        with self.client().election("backup", on_lost=losses.append):
            pass
        self.assertEqual(losses, [])


class Running(WithStandIn):
    def test_work_that_was_interrupted_begins_anew(self) -> None:
        tokens: list[int] = []

        def work(leadership: Leadership) -> str:
            tokens.append(leadership.check())
            if len(tokens) == 1:
                Beside(lambda: self.client().resign("backup"))
                leadership.stop.wait(DEADLINE)
            elif len(tokens) == 2:
                self.agent.end_streams("closed")
                leadership.lost.wait(DEADLINE)
                leadership.check()
            return "done"

        self.assertEqual(self.client().election("backup").run(work), "done")
        self.assertEqual((len(tokens), sorted(set(tokens))), (3, tokens))
        self.assertIsNone(self.holder("backup"))

    def test_an_error_of_the_work_ends_it(self) -> None:
        with self.assertRaises(ZeroDivisionError):
            self.client().election("backup").run(lambda leadership: leadership.check() / 0)
        self.assertIsNone(self.holder("backup"))


class Sessions(WithStandIn):
    def test_one_session_holds_many_names(self) -> None:
        for door in DOORS:
            with self.subTest(door=door), self.client(door).session() as session:
                names = [f"shard/{number} ü" for number in range(5)]
                held = [session.campaign(name).wait(DEADLINE) for name in names]
                self.assertEqual([self.holder(name) for name in names], [each.check() for each in held])
                first = held[0].valid_until
                wait_until(lambda: all(each.valid_until > first for each in held))
                held[2].release()
                wait_until(lambda: self.holder(names[2]) is None)
                held[3].check()
                again = session.campaign(names[2]).wait(DEADLINE)
                self.assertEqual(again.check(), held[2].token + 1)
            self.assertTrue(all(self.holder(name) is None for name in names))

    def test_a_session_campaigns_for_a_name_once(self) -> None:
        with self.client().session() as session:
            with session.campaign("backup"), self.assertRaises(ValueError):
                session.campaign("backup")
            with session.campaign("backup") as leadership:
                leadership.check()
        with self.assertRaises(SessionOver):
            session.campaign("backup")

    def test_who_waits_is_woken_when_the_session_is_closed(self) -> None:
        with self.client().election("backup"):
            session = self.client().session()
            waits = Beside(session.campaign("backup").wait)
            wait_until(lambda: self.waiting("backup") == 1)
            session.close()
            with self.assertRaises(SessionOver):
                waits.result()
            self.assertEqual(self.waiting("backup"), 0)

    def test_a_child_is_bound(self) -> None:
        child = subprocess.Popen([sys.executable, "-c", "import sys; sys.stdin.read()"], stdin=subprocess.PIPE)
        self.addCleanup(child.wait)
        self.addCleanup(child.communicate)
        with self.client().election("backup") as leadership:
            leadership.bind(child.pid)
            with self.agent.names.lock:
                sessions = list(self.agent.names.sessions.values())
            self.assertEqual(sessions[0].processes, [os.getpid(), child.pid])

    def test_a_copy_of_the_process_holds_nothing_and_gives_nothing_back(self) -> None:
        with self.client().election("backup") as leadership:
            child = os.fork()
            if child == 0:
                try:
                    leadership.check()
                except Lost:
                    leadership._campaign.session.close()
                    os._exit(7)
                os._exit(1)
            self.assertEqual(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), 7)
            leadership.check()
            self.assertEqual(self.holder("backup"), leadership.token)

    def test_threads_end_with_their_session(self) -> None:
        def ours() -> list[str]:
            return [thread.name for thread in threading.enumerate() if thread.name.startswith("bellwether-")]

        for door in DOORS:
            with self.client(door).election("backup"):
                self.assertTrue(ours())
            wait_until(lambda: not ours(), f"{ours()}")


if __name__ == "__main__":
    unittest.main()
