//! HTTP over a Unix socket.

use std::fmt;
use std::io::{ErrorKind, Read, Write};
use std::net::{Ipv4Addr, SocketAddr};
use std::os::unix::net::UnixStream;
use std::path::PathBuf;

use ureq::Error;
use ureq::config::Config;
use ureq::http::Uri;
use ureq::unversioned::resolver::{ResolvedSocketAddrs, Resolver};
use ureq::unversioned::transport::{
    Buffers, ConnectionDetails, Connector, LazyBuffers, NextTimeout, Transport,
};

/// Connects to that socket, whoever is asked for.
#[derive(Debug)]
pub(super) struct AtSocket(pub(super) PathBuf);

impl Connector for AtSocket {
    type Out = Connected;

    fn connect(&self, details: &ConnectionDetails<'_>, _: Option<()>) -> Result<Option<Connected>, Error> {
        let stream = UnixStream::connect(&self.0)?;
        let buffers =
            LazyBuffers::new(details.config.input_buffer_size(), details.config.output_buffer_size());
        Ok(Some(Connected { stream, buffers }))
    }
}

/// A socket has no address: nothing is looked up.
#[derive(Debug)]
pub(super) struct Nowhere;

impl Resolver for Nowhere {
    fn resolve(&self, _: &Uri, _: &Config, _: NextTimeout) -> Result<ResolvedSocketAddrs, Error> {
        let mut none = self.empty();
        none.push(SocketAddr::from((Ipv4Addr::LOCALHOST, 0)));
        Ok(none)
    }
}

/// A connection.
pub(super) struct Connected {
    stream: UnixStream,
    buffers: LazyBuffers,
}

impl fmt::Debug for Connected {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Connected").field("stream", &self.stream).finish_non_exhaustive()
    }
}

impl Transport for Connected {
    fn buffers(&mut self) -> &mut dyn Buffers {
        &mut self.buffers
    }

    fn transmit_output(&mut self, amount: usize, timeout: NextTimeout) -> Result<(), Error> {
        let timeout = timeout.for_write();
        self.stream.set_write_timeout(timeout.not_zero().map(|span| *span))?;
        let sent = self.stream.write_all(&self.buffers.output()[..amount]);
        sent.map_err(|error| timed_out(error, timeout))
    }

    fn await_input(&mut self, timeout: NextTimeout) -> Result<bool, Error> {
        let timeout = timeout.for_read();
        self.stream.set_read_timeout(timeout.not_zero().map(|span| *span))?;
        let read = loop {
            match self.stream.read(self.buffers.input_append_buf()) {
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                read => break read.map_err(|error| timed_out(error, timeout))?,
            }
        };
        self.buffers.input_appended(read);
        Ok(read > 0)
    }

    /// Nothing is asked twice over one connection.
    fn is_open(&mut self) -> bool {
        false
    }
}

/// What took too long.
fn timed_out(error: std::io::Error, timeout: NextTimeout) -> Error {
    match error.kind() {
        ErrorKind::WouldBlock | ErrorKind::TimedOut => Error::Timeout(timeout.reason),
        _ => error.into(),
    }
}

#[cfg(test)]
mod tests {
    use std::io::{BufRead, BufReader};
    use std::os::unix::net::UnixListener;
    use std::thread;
    use std::time::Duration;

    use ureq::{Agent, Timeout};

    use super::*;

    fn agent(path: PathBuf, patience: Duration) -> Agent {
        let config = Agent::config_builder().timeout_recv_response(Some(patience)).build();
        Agent::with_parts(config, AtSocket(path), Nowhere)
    }

    #[test]
    fn a_question_is_answered_and_one_that_is_not_takes_no_longer_than_it_may() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("socket");
        let listener = UnixListener::bind(&path).unwrap();
        let server = thread::spawn(move || {
            let (mut stream, _) = listener.accept().unwrap();
            let lines = BufReader::new(stream.try_clone().unwrap()).lines().map_while(Result::ok);
            let head: Vec<String> = lines.take_while(|line| !line.is_empty()).collect();
            stream.write_all(b"HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nok").unwrap();
            (head, listener.accept().unwrap())
        });
        let mut answer =
            agent(path.clone(), Duration::from_secs(20)).get("http://localhost/livez").call().unwrap();
        assert_eq!(answer.body_mut().read_to_string().unwrap(), "ok");
        let silent = agent(path, Duration::from_millis(20)).get("http://localhost/livez").call().unwrap_err();
        assert!(matches!(silent, Error::Timeout(Timeout::RecvResponse)), "{silent:?}");
        let (head, _second) = server.join().unwrap();
        assert_eq!(head[0], "GET /livez HTTP/1.1");
    }
}
