"""Streams that break, agents that crash and come back, and what is believed meanwhile."""

from __future__ import annotations

import threading
import unittest

from harness import DEADLINE, Beside, WithStandIn, wait_until

from bellwether import Lost, SessionOver, Unreachable, clock

DOORS = ("socket", "api")


class Breaking(WithStandIn):
    ttl = 3.0

    def test_a_stream_that_breaks_is_resumed_and_nothing_is_lost(self) -> None:
        for door in DOORS:
            with self.subTest(door=door), self.client(door).election("backup") as leadership:
                token = leadership.token
                for turn in range(3):
                    before = leadership.valid_until
                    streams = self.streams_opened()
                    why = ("agent-ends", "too-slow", None)[turn]
                    self.agent.cut_streams() if why is None else self.agent.end_streams(why)
                    wait_until(lambda: self.streams_opened() > streams)
                    leadership.check()
                    wait_until(lambda: leadership.valid_until > before)
                    self.assertEqual((leadership.check(), leadership.lost.is_set()), (token, False))

    def test_an_agent_that_ends_and_is_back_in_time_adopts_with_a_larger_token(self) -> None:
        for door in DOORS:
            with self.subTest(door=door), self.client(door).session() as session:
                held = [session.campaign(name).wait(DEADLINE) for name in ("one", "two")]
                rows = session.campaign("rows", kind="token").wait(DEADLINE)
                tokens = [each.token for each in (*held, rows)]
                self.agent.crash()
                for each in held:
                    each.check()
                self.agent.come_back()
                wait_until(lambda: [each.token for each in (*held, rows)] == [token + 1 for token in tokens])
                self.assertEqual([each.check() for each in (*held, rows)], [token + 1 for token in tokens])
                self.assertEqual(rows.valid_for, float("inf"))

    def test_who_waits_goes_on_waiting_when_the_agent_is_back(self) -> None:
        with self.client().session() as session:
            first = session.campaign("backup").wait(DEADLINE)
            with self.client().session() as other:
                waits = other.campaign("backup")
                self.agent.cut_streams()
                wait_until(lambda: self.streams_opened() >= 4 and waits.position == 1)
                first.release()
                self.assertEqual(waits.wait(DEADLINE).check(), first.token + 1)

    def test_a_session_that_waits_for_one_name_and_holds_another_resumes_both(self) -> None:
        with self.client().election("backup") as blocker, self.client().session() as session:
            held, waits = session.campaign("other").wait(DEADLINE), session.campaign("backup")
            self.agent.cut_streams()
            wait_until(lambda: self.streams_opened() >= 4)
            blocker.release()
            waits.wait(DEADLINE).check()
            held.check()

    def test_valid_of_a_new_stream_says_nothing_of_what_it_did_not_confirm(self) -> None:
        with self.client().election("backup") as leadership:
            campaign = leadership._campaign
            before = leadership.valid_until
            with campaign.lock:
                campaign.cut_off(clock.now())
                campaign.valid(None, clock.now() + 60_000_000)
                campaign.valid(leadership.token, clock.now() + 60_000_000)
                self.assertEqual(leadership.valid_until, before)
                campaign.elected("lease", leadership.token, clock.now() + 60_000_000)
                self.assertGreater(leadership.valid_until, before + 10)


class Losing(WithStandIn):
    ttl = 0.5

    def test_an_agent_that_does_not_come_back_in_time_has_lost_it(self) -> None:
        for door in DOORS:
            losses: list[Lost] = []
            with self.subTest(door=door), self.client(door).election("backup", on_lost=losses.append) as leadership:
                self.agent.crash()
                leadership.check()
                self.assertTrue(leadership.lost.wait(DEADLINE))
                with self.assertRaises(Lost) as raised:
                    leadership.check()
                self.assertEqual(raised.exception.why, "lease")
                wait_until(lambda: losses)
                self.agent.come_back()
            with self.client(door).election("backup", timeout=DEADLINE) as again:
                self.assertGreater(again.check(), leadership.token)

    def test_what_a_store_decides_is_held_for_as_long_as_the_session_is_kept(self) -> None:
        for door in DOORS:
            with self.subTest(door=door), self.client(door).election("rows", kind="token", keep=0.3) as leadership:
                self.agent.crash()
                self.assertTrue(leadership.lost.wait(DEADLINE))
                self.assertEqual(leadership.why, "lease")
                self.agent.come_back()

    def test_an_agent_that_forgot_the_session_has_lost_it(self) -> None:
        with self.client().election("rows", kind="token") as leadership:
            self.agent.crash()
            self.agent.names.before.clear()
            self.agent.come_back()
            self.assertTrue(leadership.lost.wait(DEADLINE))
            self.assertIn("does not know it", leadership.why or "")

    def test_the_agents_word_counts_before_the_deadline(self) -> None:
        with self.client().election("backup") as leadership:
            with self.agent.names.lock:
                self.agent.names.valid_until = clock.now() + 60_000_000
                self.agent.names._lose(self.agent.names.names["backup"], "replaced", wait=True)
            self.assertTrue(leadership.lost.wait(DEADLINE))
            self.assertEqual(leadership.why, "replaced")

    def test_a_stream_that_goes_on_elsewhere_is_not_taken_back(self) -> None:
        with self.client().session() as session:
            held = session.campaign("rows", kind="token").wait(DEADLINE)
            with self.client().election("backup"):
                waits = session.campaign("backup")
                self.agent.end_streams("taken-over")
                self.assertTrue(held.lost.wait(DEADLINE))
                with self.assertRaises(SessionOver):
                    waits.wait(DEADLINE)
            with self.assertRaises(SessionOver):
                session.campaign("more")

    def test_nobody_is_waited_for_when_the_first_stream_cannot_be_had(self) -> None:
        self.agent.is_down = True
        for door in DOORS:
            with self.subTest(door=door), self.assertRaises(Unreachable):
                self.client(door).election("backup").__enter__()

    def test_a_session_that_is_coming_back_can_be_closed(self) -> None:
        session = self.client().session()
        held = session.campaign("backup").wait(DEADLINE)
        self.agent.crash()
        Beside(session.close).result()
        self.assertEqual(held.why, "released")
        wait_until(lambda: not [thread for thread in threading.enumerate() if thread.name == "bellwether-session"])


if __name__ == "__main__":
    unittest.main()
