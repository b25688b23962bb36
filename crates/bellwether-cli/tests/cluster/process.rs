//! Processes that do not outlive their test.

use std::fs::File;
use std::path::Path;
use std::process::{Child, Command, Output, Stdio};
use std::time::Duration;

use nix::errno::Errno;
use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;

use super::wait_until;

/// A process; killed, if it still runs when this goes.
pub(crate) struct Process(Child);

impl Process {
    /// An agent that ends with the test.
    pub(crate) fn agent(config: &Path, log: &Path) -> Self {
        Self::agent_with(config, &[], log)
    }

    /// The same with these flags.
    pub(crate) fn agent_with(config: &Path, flags: &[&str], log: &Path) -> Self {
        Self::logged(agent(config).args(flags), log)
    }

    /// The same with limits that `ulimit` sets.
    pub(crate) fn agent_under(config: &Path, ulimit: &str, log: &Path) -> Self {
        let agent = agent(config);
        let mut shell = Command::new("sh");
        shell.args(["-c", &format!("ulimit {ulimit} && exec \"$0\" \"$@\"")]);
        shell.arg(agent.get_program()).args(agent.get_args());
        for (name, _) in agent.get_envs() {
            shell.env_remove(name);
        }
        Self::logged(&mut shell, log)
    }

    pub(super) fn logged(command: &mut Command, log: &Path) -> Self {
        let file = File::options().create(true).append(true).open(log).unwrap();
        Self::start(command.stdin(Stdio::piped()).stdout(file.try_clone().unwrap()).stderr(file))
    }

    pub(crate) fn start(command: &mut Command) -> Self {
        Self::of(command.spawn().expect("the command runs"))
    }

    pub(crate) fn of(child: Child) -> Self {
        Self(child)
    }

    pub(crate) fn child(&mut self) -> &mut Child {
        &mut self.0
    }

    pub(crate) fn stop(&self) {
        self.signal(Signal::SIGSTOP);
    }

    pub(crate) fn cont(&self) {
        self.signal(Signal::SIGCONT);
    }

    pub(crate) fn terminate(&self) {
        self.signal(Signal::SIGTERM);
    }

    pub(crate) fn signal(&self, signal: Signal) {
        kill(self.pid(), signal).expect("the process is ours");
    }

    /// The exit code; `None` if a signal ended it. It must end in time.
    #[track_caller]
    pub(crate) fn wait(&mut self, deadline: Duration) -> Option<i32> {
        let mut status = None;
        let ended = wait_until(deadline, || {
            status = self.0.try_wait().expect("the process is ours");
            status.is_some()
        });
        assert!(ended, "still running after {deadline:?}");
        status.and_then(|status| status.code())
    }

    pub(crate) fn pid(&self) -> Pid {
        Pid::from_raw(i32::try_from(self.0.id()).expect("process ids are small"))
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// An agent that ends with the test.
pub(crate) fn agent(config: &Path) -> Command {
    agent_of(env!("CARGO_BIN_EXE_bellwether").as_ref(), config)
}

/// The same of that build.
pub(super) fn agent_of(build: &Path, config: &Path) -> Command {
    let mut command = undisturbed(build);
    command.arg("agent").arg("--config").arg(config).arg("--end-with-stdin");
    command
}

/// The command, as if called by hand: nothing of the tests' environment reaches it.
pub(crate) fn bellwether() -> Command {
    // Signals may be ignored here, as they are in what `nohup` or a script starts in the background.
    let mut command = undisturbed(Path::new("env"));
    command.args(["--default-signal=HUP,INT,QUIT", env!("CARGO_BIN_EXE_bellwether")]);
    command
}

/// A command that nothing of the tests' environment reaches.
pub(crate) fn undisturbed(program: &Path) -> Command {
    let mut command = Command::new(program);
    let ours = std::env::vars_os().map(|(name, _)| name);
    for name in ours.filter(|name| name == "CARGO" || name.to_string_lossy().starts_with("BELLWETHER_")) {
        command.env_remove(name);
    }
    command.stdin(Stdio::null());
    command
}

/// Runs the command to its end: the exit code, what it printed, and what it complained of.
pub(crate) fn run(args: &[&str]) -> (i32, String, String) {
    let Output { status, stdout, stderr } = bellwether().args(args).output().expect("the command runs");
    let text = |bytes| String::from_utf8(bytes).expect("it prints text");
    (status.code().expect("it ends by itself"), text(stdout), text(stderr))
}

/// Whether a process with that number exists.
pub(crate) fn exists(pid: i32) -> bool {
    kill(Pid::from_raw(pid), None) != Err(Errno::ESRCH)
}
