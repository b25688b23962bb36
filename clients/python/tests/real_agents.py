"""The same with real agents: three processes, of the command that `BELLWETHER_BIN` names."""

from __future__ import annotations

import json
import os
import signal
import socket
import subprocess
import sys
import tempfile
import unittest
from contextlib import ExitStack
from pathlib import Path
from typing import Optional

from harness import DEADLINE, Beside, wait_until

from bellwether import BellwetherError, Client, Conflict, Lost, NotElected

BIN = os.environ.get("BELLWETHER_BIN")
TOKEN = "the-token-of-the-tests"
NODES = (1, 2, 3)

#: A program that holds a name until it is killed. It says with which token, and again whenever it is asked, if it may still act.
HOLDER = """
import sys
from bellwether import Client, Lost
with Client(socket=sys.argv[1]).election(sys.argv[2]) as leadership:
    print(leadership.check(), flush=True)
    for _ in sys.stdin:
        try:
            print(leadership.check(), flush=True)
        except Lost:
            print("lost", flush=True)
"""


class Agents:
    """Three of them, in a directory of their own."""

    def __init__(self, command: str, directory: str) -> None:
        self._command = command
        self._directory = Path(directory)
        self._processes: dict[int, subprocess.Popen[bytes]] = {}
        self._apis: dict[int, str] = {}
        self._configure()

    def _configure(self) -> None:
        # What dials comes from 127.0.0.1, so nobody takes the port of an agent that is down.
        high, low = divmod(os.getpid() & 0xFFFF, 256)
        host = f"127.{high | 1}.{low}.200"
        with ExitStack() as held:
            listeners = [held.enter_context(socket.create_server((host, 0))) for _ in range(2 * len(NODES))]
            addresses = ["{}:{}".format(*listener.getsockname()) for listener in listeners]
        peers = dict(zip(NODES, addresses[::2]))
        self._apis = dict(zip(NODES, addresses[1::2]))
        lines = [
            'cluster = "test"',
            'mode = "exclusive"',
            'data_dir = "data-{node}"',
            *(f'[[peer]]\nid = {node}\naddress = "{address}"' for node, address in peers.items()),
            '[tls]\nca = "tls/ca.pem"\ncert = "tls/node-{node}.pem"\nkey = "tls/node-{node}.key"',
            f'[api]\ntoken = "{TOKEN}"',
            '[listen]\nsocket = "agent-{node}.sock"',
        ]
        self._file("agent.toml").write_text("\n".join(lines))
        command = [self._command, "tls", "init", "--config", str(self._file("agent.toml"))]
        subprocess.run(command, env=undisturbed(), capture_output=True, check=True)

    def _file(self, name: str) -> Path:
        return self._directory / name

    def socket(self, node: int) -> str:
        return str(self._file(f"agent-{node}.sock"))

    def client(self, node: int) -> Client:
        return Client(socket=self.socket(node))

    def over_tcp(self, node: int) -> Client:
        return Client(api=self._apis[node], token=TOKEN)

    def start(self, node: int) -> None:
        with open(self._file(f"log-{node}"), "ab") as log:
            command = [self._command, "agent", "--config", str(self._file("agent.toml")), "--node", str(node)]
            self._processes[node] = subprocess.Popen(
                [*command, "--listen-api", self._apis[node], "--end-with-stdin"],
                env=undisturbed(),
                stdin=subprocess.PIPE,
                stdout=log,
                stderr=log,
            )

    def start_all(self) -> None:
        for node in NODES:
            self.start(node)
        for node in NODES:
            self.wait_for(node)

    def wait_for(self, node: int) -> None:
        """Until it answers."""
        wait_until(lambda: self._answers(node), f"node {node} answers")

    def _answers(self, node: int) -> bool:
        code = self._processes[node].poll()
        if code is not None:
            raise AssertionError(f"node {node} ended with {code}: {self.log(node)}")
        try:
            list(self.over_tcp(node).elections())
        except BellwetherError:
            return False
        return os.path.exists(self.socket(node))

    def send(self, node: int, what: signal.Signals) -> None:
        self._processes[node].send_signal(what)

    def kill(self, node: int) -> None:
        process = self._processes.pop(node)
        process.kill()
        process.communicate(timeout=DEADLINE)

    def log(self, node: int) -> str:
        return self._file(f"log-{node}").read_text(errors="replace")

    def stop(self) -> None:
        for process in self._processes.values():
            process.kill()
            process.communicate()


def undisturbed() -> dict[str, str]:
    """The environment without what is meant for others."""
    return {name: value for name, value in os.environ.items() if not name.startswith("BELLWETHER_")}


@unittest.skipIf(BIN is None, "BELLWETHER_BIN names no command")
class RealAgents(unittest.TestCase):
    agents: Agents

    def setUp(self) -> None:
        directory = tempfile.TemporaryDirectory(prefix="bellwether-")
        self.addCleanup(directory.cleanup)
        self.agents = Agents(os.environ["BELLWETHER_BIN"], directory.name)
        self.addCleanup(self.agents.stop)
        self.agents.start_all()

    def holder(self, node: int, name: str) -> tuple[subprocess.Popen[str], int]:
        """A process that holds a name, and its token."""
        source = str(Path(__file__).parent.parent / "src")
        process = subprocess.Popen(
            [sys.executable, "-c", HOLDER, self.agents.socket(node), name],
            env={**undisturbed(), "PYTHONPATH": source},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        self.addCleanup(process.communicate)
        self.addCleanup(process.kill)
        assert process.stdout is not None
        return process, int(process.stdout.readline())

    def test_names_are_held_given_back_and_asked_for(self) -> None:
        agents = self.agents
        for client in (agents.client(1), agents.over_tcp(1)):
            with client.election("backup", value="of 1", timeout=DEADLINE) as leadership:
                token = leadership.check()
                first = leadership.valid_until
                wait_until(lambda: leadership.valid_until > first)
                wait_until(lambda: getattr(agents.client(2).get("backup"), "token", 0) == token)
                leadership.proclaim("here")
                found = agents.over_tcp(3).get("backup", quorum=True)
                assert found is not None and found.holder is not None
                self.assertEqual((found.token, found.value, found.holder.node), (token, "here", 1))
                with self.assertRaises(NotElected):
                    agents.client(2).election("backup", timeout=0.3).__enter__()
                with self.assertRaises(Conflict):
                    agents.client(1).check("backup", token + 1)
                self.assertGreater(agents.over_tcp(1).check("backup", token), 0)
            with agents.client(2).election("backup", timeout=DEADLINE) as second:
                self.assertGreater(second.check(), token)
        self.assertIn("backup", [election.name for election in agents.client(3).elections()])

    def test_who_resigns_is_asked_first_and_the_next_has_a_larger_token(self) -> None:
        with self.agents.client(1).election("backup", timeout=DEADLINE) as first:
            with self.agents.client(2).session() as session:
                waits = session.campaign("backup")
                asked = Beside(lambda: self.agents.client(1).resign("backup", token=first.token))
                self.assertTrue(first.stop.wait(DEADLINE))
                first.check()
                first.release()
                self.assertGreater(waits.wait(DEADLINE).check(), first.token)
                asked.result()

    def test_a_process_that_is_killed_has_given_everything_back(self) -> None:
        process, token = self.holder(1, "backup")
        with self.agents.client(2).session() as session:
            waits = session.campaign("backup")
            process.kill()
            self.assertGreater(waits.wait(DEADLINE).check(), token)

    def test_a_program_that_was_stopped_does_not_act_on_what_it_knew_before(self) -> None:
        process, token = self.holder(1, "backup")
        assert process.stdin is not None and process.stdout is not None
        with self.agents.client(2).session() as session:
            waits = session.campaign("backup")
            process.send_signal(signal.SIGSTOP)
            # What it has not read yet tells it that it holds the name. Then there is nobody to tell it more.
            wait_until(lambda: self.agents.over_tcp(1).check("backup", token) > 0)
            self.agents.kill(1)
            # The question is the first that it finds when it goes on.
            process.stdin.write("?\n")
            process.stdin.flush()
            self.assertGreater(waits.wait(DEADLINE).check(), token)
            process.send_signal(signal.SIGCONT)
            self.assertEqual(process.stdout.readline(), "lost\n")

    def test_an_agent_that_is_killed_takes_nothing_but_its_word_and_nobody_acts_beside(self) -> None:
        for door in (self.agents.client(1), self.agents.over_tcp(1)):
            with door.election("backup", timeout=DEADLINE) as first, self.agents.client(2).session() as session:
                waits = session.campaign("backup")
                first.check()
                self.agents.kill(1)
                second = waits.wait(DEADLINE)
                with self.assertRaises(Lost):
                    first.check()
                self.assertGreater(second.check(), first.token)
                self.agents.start(1)
                self.agents.wait_for(1)

    def test_an_agent_that_is_stopped_holds_nothing_when_another_does(self) -> None:
        with self.agents.client(1).election("backup", timeout=DEADLINE) as first, self.agents.client(2).session() as session:
            waits = session.campaign("backup")
            self.agents.send(1, signal.SIGSTOP)
            try:
                second = waits.wait(DEADLINE)
                with self.assertRaises(Lost):
                    first.check()
                self.assertGreater(second.check(), first.token)
            finally:
                self.agents.send(1, signal.SIGCONT)

    def test_an_agent_that_is_restarted_is_come_back_to(self) -> None:
        with self.agents.client(1).session() as session:
            first = session.campaign("rows", kind="token").wait(DEADLINE)
            token: Optional[int] = first.token
            self.agents.kill(1)
            self.agents.start(1)
            # Adopted, or granted anew if another life of the agent had to give it up.
            wait_until(lambda: first.lost.is_set() or first.token != token)
            again = first if not first.lost.is_set() else session.campaign("rows").wait(DEADLINE)
            self.assertGreater(again.check(), token or 0)

    def test_a_thread_may_hold_many_names(self) -> None:
        with self.agents.client(3).session() as session:
            campaigns = [session.campaign(f"shard {number}") for number in range(20)]
            held = [campaign.wait(DEADLINE) for campaign in campaigns]
            first = min(each.valid_until for each in held)
            wait_until(lambda: all(each.valid_until > first for each in held))
            self.assertTrue(all(each.check() for each in held))
        found = json.dumps([election.name for election in self.agents.client(3).elections()])
        self.assertIn("shard 19", found)


if __name__ == "__main__":
    unittest.main()
