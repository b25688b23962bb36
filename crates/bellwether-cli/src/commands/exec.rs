//! `bellwether exec`: runs a command only while this machine holds a name.
//!
//! ```text
//! exec                 speaks with the agent, and takes the signals
//! └─ exec-warden       holds the deadline, and kills: also if `exec` is stopped or dead
//!    └─ the command    in a process group and a control group of its own
//! ```
//!
//! | file | what |
//! |---|---|
//! | `holding.rs` | from one leadership to the next |
//! | `running.rs` | one run of the command |
//! | `margin.rs` | when it is stopped, killed, and taken out of the warden's hands |
//! | `door.rs`, `signals.rs`, `token_file.rs` | which agent, which signals, where the token is written |
//! | `bond.rs`, `warden.rs`, `child.rs` | the warden, from both sides, and the process that becomes the command |
//! | `link.rs`, `words.rs` | what these say to each other |
//! | `kin.rs`, `cgroup.rs`, `uptime.rs` | what the kernel says: who is ours, who is left, what time it is |

mod bond;
mod cgroup;
mod child;
mod door;
mod holding;
mod kin;
mod link;
mod margin;
mod running;
mod signals;
mod token_file;
mod uptime;
mod warden;
mod words;

use tokio::runtime::Builder;

use crate::Status;
use crate::args::exec::{ExecArgs, Part};
use crate::output::Printer;
use crate::trouble::Trouble;
use holding::Exec;

/// This program, as it was when it was started, whatever is on the disk now.
const OURSELVES: &str = "/proc/self/exe";

/// What `exec` starts beside itself.
pub(crate) fn play(part: &Part) -> Status {
    match part {
        Part::ExecWarden(args) => warden::run(args),
        Part::ExecChild(args) => child::run(args),
    }
}

pub(crate) fn run(args: &ExecArgs, out: &Printer) -> Status {
    // One thread, so that whoever was started by it is told of its end, and not of another's.
    let runtime = Builder::new_current_thread().enable_all().build();
    let runtime = runtime.map_err(|error| Trouble::failed(format!("cannot start: {error}")));
    match runtime.and_then(|runtime| runtime.block_on(Exec::run(args, out))) {
        Ok(status) => status,
        Err(trouble) => trouble.told(out),
    }
}
