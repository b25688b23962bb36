//! Which agent is asked.

use std::path::{Path, PathBuf};

use bellwether::client::{Client, ClientError, Refusal};

use crate::args::exec::{DoorArgs, ExecArgs};
use crate::client::{api_of, token_of};
use crate::trouble::Trouble;

/// Where an agent is.
#[derive(Clone, Debug)]
pub(super) enum Door {
    Socket(PathBuf),
    Api(String),
}

impl Door {
    /// What was said on the command line goes before the environment, and the socket before the API.
    pub(super) fn of(args: &DoorArgs) -> Self {
        match (&args.socket, &args.api) {
            (Some(socket), _) => Self::Socket(socket.clone()),
            (None, Some(api)) => Self::Api(api.clone()),
            (None, None) => match std::env::var_os("BELLWETHER_SOCKET") {
                Some(socket) => Self::Socket(socket.into()),
                None => Self::Api(api_of(None)),
            },
        }
    }

    pub(super) fn socket(&self) -> Option<&Path> {
        match self {
            Self::Socket(socket) => Some(socket),
            Self::Api(_) => None,
        }
    }

    /// The agent, if one is there.
    pub(super) async fn client(&self, args: &ExecArgs) -> Result<Client, Trouble> {
        match self {
            Self::Socket(socket) => Client::connect(socket).await.map_err(|error| self.trouble(&error)),
            Self::Api(api) => {
                let client = Client::at(api);
                Ok(match token_of(&args.token)? {
                    Some(token) => client.with_token(token),
                    None => client,
                })
            }
        }
    }

    /// What a person can do about it.
    pub(super) fn trouble(&self, error: &ClientError) -> Trouble {
        let advice = match (self, error) {
            (Self::Socket(_), ClientError::Unreachable { .. }) => {
                "; start an agent with `bellwether agent --config FILE`, with this as its `listen.socket`, or name another with \
                 --socket or --api"
            }
            (Self::Api(_), ClientError::Unreachable { .. }) => {
                "; start an agent with `bellwether agent --config FILE`, or name another with --socket or --api"
            }
            (Self::Api(_), ClientError::Refused { refusal: Refusal::Forbidden, .. }) => {
                "; give the token of its API with --token, --token-file or BELLWETHER_TOKEN, or use its socket with --socket"
            }
            _ => "",
        };
        let what = format!("{error}{advice}");
        if error.is_bad_input() { Trouble::wrong(what) } else { Trouble::failed(what) }
    }
}
