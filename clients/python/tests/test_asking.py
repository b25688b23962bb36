"""What can be asked of an agent, and what is said when there is none."""

from __future__ import annotations

import os
import socket
import tempfile
import unittest
from collections.abc import Callable
from itertools import islice
from typing import Optional

from harness import Beside, WithStandIn, wait_until

from bellwether import (
    BadRequest,
    BadSettings,
    Client,
    Conflict,
    Election,
    Holder,
    NotAnAgent,
    NotFound,
    TooLarge,
    Unreachable,
    client,
)
from bellwether.door import ApiDoor, SocketDoor, find

DOORS = ("socket", "api")


class Elections(WithStandIn):
    def test_elections_are_listed_in_order_and_page_by_page(self) -> None:
        names = [f"name {number:03}/ü" for number in range(client.PAGE + 5)]
        for door in DOORS:
            with self.subTest(door=door), self.client(door).session() as session:
                for name in reversed(names):
                    session.campaign(name, value=f"of {name}")
                found = list(self.client(door).elections())
                self.assertEqual([election.name for election in found], names)
                self.assertEqual(found[3].value, "of name 003/ü")
                after = self.client(door).elections(after=names[-2])
                self.assertEqual([election.name for election in after], names[-1:])

    def test_an_election_has_a_holder_and_says_what_it_proclaims(self) -> None:
        agent = self.client()
        self.assertIsNone(agent.get("backup"))
        with agent.election("backup", value="here") as leadership, self.client("api").session() as session:
            session.campaign("backup")
            wait_until(lambda: self.waiting("backup") == 1)
            found = agent.get("backup", quorum=True)
            assert found is not None
            holder = Holder(1, leadership._campaign.session.id)
            self.assertEqual(found, Election("backup", "lease", leadership.token, holder, "here", 1, found.since, 0))
            leadership.proclaim("there")
            self.assertEqual(getattr(agent.get("backup"), "value", None), "there")
            self.assertEqual(agent.proclaim("backup", leadership.token, "elsewhere").value, "elsewhere")
            with self.assertRaises(Conflict):
                agent.proclaim("backup", leadership.token - 1, "nowhere")
        self.assertIsNone(getattr(agent.get("backup"), "holder", 0))

    def test_a_token_is_checked(self) -> None:
        for door in DOORS:
            agent = self.client(door)
            with self.subTest(door=door), agent.election("backup") as leadership:
                self.assertTrue(0 < agent.check("backup", leadership.token) <= self.ttl)
                with self.assertRaises(Conflict):
                    agent.check("backup", leadership.token - 1)
            with agent.election("rows", kind="token") as leadership:
                self.assertEqual(agent.check("rows", leadership.token), float("inf"))

    def test_changes_are_observed_and_a_broken_stream_is_no_change(self) -> None:
        for door in DOORS:
            with self.subTest(door=door):
                agent = self.client(door)
                with agent.election("backup") as leadership:
                    changes = agent.observe("backup")
                    now = next(changes)
                    self.assertEqual(getattr(now, "token", None), leadership.token)
                    leadership.proclaim("there")
                    self.assertEqual(getattr(next(changes), "value", None), "there")
                    self.agent.cut_streams()
                    wait_until(lambda: leadership._campaign._confirmed)
                gone = next(change for change in changes if change is None or change.holder is None)
                self.assertEqual(getattr(gone, "token", None), leadership.token)
                changes.close()  # type: ignore[attr-defined]

    def test_what_is_deleted_is_no_more(self) -> None:
        agent = self.client()
        with agent.election("backup"), self.assertRaises(Conflict):
            agent.delete("backup")
        changes = agent.observe("backup")
        next(changes)
        agent.delete("backup")
        self.assertIsNone(next(changes))
        with agent.election("backup"):
            self.assertEqual(getattr(next(changes), "name", None), "backup")
        agent.delete("backup")
        self.assertIsNone(agent.get("backup"))
        with self.assertRaises(NotFound):
            agent.delete("backup")

    def test_nobody_is_asked_back_where_nobody_holds(self) -> None:
        agent = self.client()
        with agent.election("backup") as leadership:
            with self.assertRaises(Conflict):
                agent.resign("backup", token=leadership.token + 1)
            with self.assertRaises(Conflict):
                agent.transfer("backup", 2)
        self.assertIsNone(agent.resign("backup").holder)

    def test_the_leadership_of_the_cluster_is_watched(self) -> None:
        for door in DOORS:
            with self.subTest(door=door):
                events = self.client(door).watch()
                self.assertEqual(next(events).name, "status")
                for leader in (2, 3):
                    self.agent.change(leader)
                    self.assertEqual(next(events).data["leader"], leader)
                    self.agent.cut_streams()
                    wait_until(lambda: not self.agent._streams)
                    # This one happens while nobody listens.
                    self.agent.change(leader + 10)
                    told = list(islice((event for event in events if event.name == "change"), 1))
                    self.assertEqual([event.data["leader"] for event in told], [leader + 10])
                events.close()  # type: ignore[attr-defined]
        self.assertEqual(self.client().status()["node"], 1)


class Refusals(WithStandIn):
    def test_what_is_wrong_is_said_by_the_agent(self) -> None:
        agent = self.client()
        for wrong, error, words in (
            ({"kind": "lock"}, BadRequest, "expected `lease` or `token`"),
            ({"priority": -1}, BadRequest, "0 to 4294967295"),
            ({"value": "x" * 4097}, TooLarge, "at most 4096"),
            ({"value": "x" * 20_000}, TooLarge, "body"),
        ):
            with self.subTest(wrong=str(wrong)[:40]), self.assertRaises(error) as raised:
                agent.election("backup", **wrong).__enter__()
            self.assertIn(words, str(raised.exception))
            self.assertIn(self.agent.socket, str(raised.exception))
        with self.assertRaises(BadRequest):
            agent.election("x" * 256).__enter__()
        self.assertEqual(self.agent.names.sessions, {})

    def test_an_agent_of_another_mode_says_so(self) -> None:
        self.agent.names.exclusive = False
        with self.assertRaises(Conflict) as raised:
            self.client().election("backup").__enter__()
        self.assertIn('mode = "exclusive"', str(raised.exception))

    def test_a_secret_is_needed_over_tcp_and_the_process_on_the_socket(self) -> None:
        session = self.client("api").session()
        self.addCleanup(session.close)
        with self.assertRaises(Exception) as raised:
            self.client("api")._calls.change("DELETE", f"/v1/session/{session.id}", secret="guessed")
        self.assertIn("secret", str(raised.exception))


class NoAgent(unittest.TestCase):
    def test_an_agent_that_is_not_there_is_named_with_what_to_do(self) -> None:
        with tempfile.TemporaryDirectory() as directory:
            path = os.path.join(directory, "none.sock")
            with self.assertRaises(Unreachable) as raised:
                Client(socket=path).status()
            self.assertIn(path, str(raised.exception))
            self.assertIn("is it running", str(raised.exception))
        with self.assertRaises(ConnectionError):
            Client(api="127.0.0.1:1").status()

    def test_what_is_no_agent_is_told_apart(self) -> None:
        for said in (b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nhi", b"HTTP/1.1 404 no\r\n\r\n[]"):
            with self.subTest(said=said), self.assertRaises(NotAnAgent):
                self.ask(said)
        for said in (b"", b"hello\r\n\r\n", b"HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\n{"):
            with self.subTest(said=said), self.assertRaises((Unreachable, NotAnAgent)):
                self.ask(said)

    def test_a_stream_that_is_none_is_told_apart(self) -> None:
        head = b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n\r\n"
        for said in (b"event: hello\ndata: {}\n\n", b"event: session\ndata: {\n\n", b"", b"x" * 200_000):
            with self.subTest(said=said[:20]), self.assertRaises((NotAnAgent, Unreachable)):
                self.ask(head + said, lambda agent: agent.session())

    def ask(self, said: bytes, what: Optional[Callable[[Client], object]] = None) -> None:
        """Asks something that says that, whatever it is asked."""
        with socket.create_server(("127.0.0.1", 0)) as server:

            def answer() -> None:
                connection, _ = server.accept()
                with connection:
                    connection.recv(65536)
                    connection.sendall(said)

            beside = Beside(answer)
            agent = Client(api="{}:{}".format(*server.getsockname()), token="t")
            try:
                agent.status() if what is None else what(agent)
            finally:
                try:
                    beside.result()
                except OSError:
                    pass  # Whoever asked had heard enough.


class Doors(unittest.TestCase):
    def test_addresses_are_read_as_the_commands_read_them(self) -> None:
        for api, host, port in (
            ("127.0.0.1:3171", "127.0.0.1", 3171),
            ("http://node-1.example:80/", "node-1.example", 80),
            ("[::1]:3171", "::1", 3171),
        ):
            door = ApiDoor(api)
            self.assertEqual((door.host, door.port), (host, port))
        for wrong in ("", "host", "host:", ":80", "host:http"):
            with self.subTest(wrong=wrong), self.assertRaises(BadSettings):
                ApiDoor(wrong)

    def test_one_door_at_a_time(self) -> None:
        with self.assertRaises(ValueError):
            find("/run/bellwether.sock", "127.0.0.1:3171")
        with self.assertRaises(BadSettings):
            Client(api="127.0.0.1:3171", token="two words")
        with self.assertRaises(BadSettings):
            Client().get("")

    def test_what_is_given_goes_before_the_environment(self) -> None:
        self.addCleanup(os.environ.pop, "BELLWETHER_SOCKET", None)
        os.environ["BELLWETHER_SOCKET"] = "/run/bellwether.sock"
        self.assertIsInstance(find(None, None), SocketDoor)
        self.assertIsInstance(find(None, "127.0.0.1:3171"), ApiDoor)
        del os.environ["BELLWETHER_SOCKET"]
        self.assertEqual(str(find(None, None)), "127.0.0.1:3171")


if __name__ == "__main__":
    unittest.main()
