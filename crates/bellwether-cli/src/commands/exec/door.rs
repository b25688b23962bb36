//! Which agent is asked, and what a person can do if it does not answer.

use bellwether::client::{Client, ClientError, Refusal};

use crate::args::agent::TokenArgs;
use crate::client::{Door, token_of};
use crate::trouble::Trouble;

/// The agent, if one is there.
pub(super) async fn client(door: &Door, token: &TokenArgs) -> Result<Client, Trouble> {
    if let Some(problem) = door.problem() {
        return Err(Trouble::wrong(problem));
    }
    match door {
        Door::Socket(socket) => Client::connect(socket).await.map_err(|error| trouble(door, &error)),
        Door::Api(api) => {
            let client = Client::at(api);
            Ok(match token_of(token)? {
                Some(token) => client.with_token(token),
                None => client,
            })
        }
    }
}

/// What went wrong, and what to do about it.
pub(super) fn trouble(door: &Door, error: &ClientError) -> Trouble {
    let advice = match (door, error) {
        (Door::Socket(_), ClientError::Unreachable { .. }) => {
            "; start an agent with `bellwether agent --config FILE`, with this as its `listen.socket`, or name another with \
                 --socket or --api"
        }
        (Door::Api(_), ClientError::Unreachable { .. }) => {
            "; start an agent with `bellwether agent --config FILE`, or name another with --socket or --api"
        }
        (Door::Api(_), ClientError::Refused { refusal: Refusal::Forbidden, .. }) => {
            "; give the token of its API with --token, --token-file or BELLWETHER_TOKEN, or use its socket with --socket"
        }
        _ => "",
    };
    let what = format!("{error}{advice}");
    if error.is_bad_input() { Trouble::wrong(what) } else { Trouble::failed(what) }
}
