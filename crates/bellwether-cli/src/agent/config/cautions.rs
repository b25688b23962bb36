//! What is allowed and unwise. None of it is refused, because a container or a proxy may make it right; the agent says so
//! when it starts.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

use super::{Draft, Token};

/// A shorter token can be guessed.
const TOKEN_MIN: usize = 16;

/// The permission of users that are neither the owner nor in the group.
const OTHERS_READ: u32 = 0o004;

/// One sentence for each. `file` is the configuration, if a secret is written in it.
pub(super) fn of(draft: &Draft, file: Option<&Path>) -> Vec<String> {
    let token_file = match &draft.token {
        Token::InFile(path) => Some(path.as_path()),
        Token::None | Token::Given(_) => None,
    };
    let secrets = [Some(draft.tls.key.as_path()), file, token_file];
    secrets.into_iter().flatten().filter_map(readable_by_all).chain(in_the_clear(draft)).collect()
}

/// What is to be said of that token.
pub(super) fn of_token(token: &str) -> Option<String> {
    (token.len() < TOKEN_MIN).then(|| {
        format!(
            "the token has {} characters and can be guessed: `openssl rand -hex 16` makes a better one",
            token.len()
        )
    })
}

fn readable_by_all(path: &Path) -> Option<String> {
    let mode = fs::metadata(path).ok()?.permissions().mode() & 0o7777;
    (mode & OTHERS_READ != 0).then(|| {
        format!(
            "{} holds a secret, and every user of this machine may read it (mode {mode:04o}): chmod 600",
            path.display()
        )
    })
}

fn in_the_clear(draft: &Draft) -> Option<String> {
    let token = match draft.token {
        Token::None => "",
        Token::Given(_) | Token::InFile(_) => ", and the token can be read on the way",
    };
    let others = !draft.api.ip().is_loopback();
    others.then(|| {
        format!(
            "other machines reach the API at {} without TLS{token}: let it listen on 127.0.0.1, or keep that port to \
             a network that you trust",
            draft.api
        )
    })
}
