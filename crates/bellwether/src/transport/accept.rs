//! Accepting connections, and finding out who is there.

use std::io;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::{Duration, Instant};

use bellwether_proto::ident::Incarnation;
use rustls::pki_types::CertificateDer;
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::watch;
use tokio::task::JoinSet;
use tokio::time::{sleep, timeout};
use tokio_rustls::TlsAcceptor;
use tokio_rustls::server::TlsStream;

use super::NetEvent;
use super::admit::{InwardPlace, NoPlace};
use super::complaints::About;
use super::connection::{HANDSHAKE_TIMEOUT, Held, prepare, say_goodbye, shown_by, write};
use super::inbound;
use super::record::{self, CONTROL_MAX, Hello, ReadError, Reason, Record, Refused, VERSION, bounded};
use super::refusal::Away;
use super::shared::Shared;
use super::strangers::{Origin, Strangers};
use super::table::Process;

/// The system is out of something that connections need: wait for some of it to come back.
const EXHAUSTED_PAUSE: Duration = Duration::from_millis(100);

/// Accepts until it is told to stop.
pub(super) async fn run(shared: Arc<Shared>, listener: TcpListener, mut stop: watch::Receiver<bool>) {
    let mut strangers = Strangers::default();
    let mut connections = JoinSet::new();
    loop {
        let max = shared.connections_max();
        tokio::select! {
            _ = stop.changed() => break,
            Some(_) = connections.join_next() => {}
            // One more, while the one that makes room for it is on its way out.
            accepted = listener.accept(), if connections.len() <= max => match accepted {
                Ok((stream, address)) => {
                    let held = strangers.admit(address.ip(), origin(&shared, address));
                    if connections.len() >= max {
                        strangers.send_one_away();
                    }
                    connections.spawn(serve(Arc::clone(&shared), stream, address, held));
                }
                Err(error) => {
                    // Most likely it is for want of file descriptors, and a stranger has one.
                    strangers.send_one_away();
                    shared.complaints.log(About::Listener, None, &error);
                    sleep(EXHAUSTED_PAUSE).await;
                }
            },
        }
    }
    drop(listener);
    while connections.join_next().await.is_some() {}
}

fn origin(shared: &Shared, address: SocketAddr) -> Origin {
    if shared.homes().has(address.ip()) { Origin::PeersHome } else { Origin::Elsewhere }
}

async fn serve(shared: Arc<Shared>, stream: TcpStream, address: SocketAddr, mut held: Held) {
    let greeted = tokio::select! {
        greeted = timeout(HANDSHAKE_TIMEOUT, greet(&shared, stream, address)) => greeted,
        () = held.released() => {
            refuse(&shared, About::Crowd, address, &"there are too many connections");
            return;
        }
    };
    drop(held);
    match greeted {
        Ok(Ok((stream, process, place))) => {
            shared.homes().came(process.id, address.ip());
            shared.wake(process.id);
            let shown = shown_by(stream.get_ref().1);
            let distrusted = shared.distrusted(process.id, &shown);
            inbound::run(&shared, process, stream, place, distrusted).await;
        }
        Ok(Err(Unfit::Tls(error))) => refuse(&shared, About::Tls, address, &error),
        Ok(Err(Unfit::Told)) => {}
        // A member that has seen from our certificate that it dialled the wrong one.
        Ok(Err(Unfit::Greeting(ReadError::Goodbye))) => {}
        Ok(Err(Unfit::Greeting(error))) => refuse(&shared, About::Greeting, address, &error),
        Ok(Err(Unfit::Refused(stream, refusal))) => {
            // To find out that an address is its own is no offence.
            if refusal.reason != Reason::Yourself {
                refuse(&shared, refusal.about(), address, &refusal.text);
            }
            answer(&shared, *stream, &refusal).await;
        }
        Err(_) => refuse(&shared, About::Greeting, address, &"it did not greet in time"),
    }
}

fn refuse(shared: &Shared, about: About, address: SocketAddr, problem: &dyn std::fmt::Display) {
    shared.counts.refused_connections.add(1);
    shared.complaints.log(about, Some(address), problem);
}

/// Says why, and closes.
async fn answer(shared: &Shared, mut stream: TlsStream<TcpStream>, refusal: &Refusal) {
    let Refusal { reason, text } = refusal;
    let refused = Refused { by: shared.me, reason: *reason, text: bounded(text) };
    if write(&mut stream, &Record::Refused(refused)).await.is_ok() {
        say_goodbye(stream).await;
    }
}

/// Why a connection is not taken.
enum Unfit {
    Tls(io::Error),
    /// It has been told so, and so has the log.
    Told,
    Greeting(ReadError),
    /// With the connection, on which it is told so.
    Refused(Box<TlsStream<TcpStream>>, Refusal),
}

struct Refusal {
    reason: Reason,
    text: String,
}

impl Refusal {
    fn new(reason: Reason, text: impl Into<String>) -> Self {
        Self { reason, text: text.into() }
    }

    fn about(&self) -> About {
        match self.reason {
            Reason::InUse => About::Duplicate,
            Reason::Full => About::Crowd,
            Reason::Version
            | Reason::Cluster
            | Reason::Protocol
            | Reason::Certificate
            | Reason::NotListed
            | Reason::Yourself => About::Greeting,
        }
    }
}

/// Finds out who is there. The connection has its place when this returns; nothing may be awaited after that.
async fn greet(
    shared: &Shared,
    stream: TcpStream,
    address: SocketAddr,
) -> Result<(TlsStream<TcpStream>, Process, InwardPlace), Unfit> {
    prepare(&stream).map_err(Unfit::Tls)?;
    let acceptor = TlsAcceptor::from(Arc::clone(&shared.tls().server));
    let mut stream = match acceptor.accept(stream).into_fallible().await {
        Ok(stream) => stream,
        Err((error, stream)) => {
            refuse(shared, About::Tls, address, &error);
            // It has been sent an alert. If what it said before it knew were left unread, the alert might not reach it.
            say_goodbye(stream).await;
            return Err(Unfit::Told);
        }
    };
    let mut bytes = Vec::new();
    let hello = match record::read(&mut stream, CONTROL_MAX, &mut bytes).await {
        Ok(Record::Hello(hello)) if hello.incarnation <= Incarnation::MAX => hello,
        Ok(_) => return Err(unreadable(stream, &ReadError::Malformed)),
        Err(error @ (ReadError::Malformed | ReadError::TooLong { .. })) => {
            return Err(unreadable(stream, &error));
        }
        Err(error) => return Err(Unfit::Greeting(error)),
    };
    let Hello { id, instance, incarnation, .. } = hello;
    let process = Process { id, instance, incarnation, address };
    let shown = stream.get_ref().1.peer_certificates();
    let holder = shared.holder(shown);
    let admitted = match check(shared, &hello, shown).and_then(|()| check_self(shared, process)) {
        Ok(()) => shared.admit_inward(process).await.map_err(no_place),
        Err(refusal) => Err(refusal),
    };
    match admitted {
        Ok(place) => Ok((stream, process, place)),
        Err(refusal) => {
            if id == shared.me && refusal.reason == Reason::InUse {
                shared.tell(NetEvent::Duplicate { at: address.to_string() }).await;
            }
            if let Some(who) = holder.filter(|who| *who != shared.me && refusal.reason.is_refusal()) {
                let away = Away { address, why: refusal.text.clone(), at: Instant::now() };
                shared.table().turned_away.note(who, away);
            }
            Err(Unfit::Refused(Box::new(stream), refusal))
        }
    }
}

/// It has a certificate of this cluster, and greets as no member of this version does.
fn unreadable(stream: TlsStream<TcpStream>, problem: &ReadError) -> Unfit {
    let text = format!("its greeting cannot be read: {problem}");
    Unfit::Refused(Box::new(stream), Refusal::new(Reason::Version, text))
}

fn check(shared: &Shared, hello: &Hello<'_>, shown: Option<&[CertificateDer<'_>]>) -> Result<(), Refusal> {
    let id = hello.id;
    if hello.version != VERSION {
        let text = format!("it speaks version {}, this member speaks {VERSION}", hello.version);
        return Err(Refusal::new(Reason::Version, text));
    }
    if hello.cluster != shared.channel.cluster {
        return Err(Refusal::new(Reason::Cluster, "it belongs to another cluster"));
    }
    if let Err(error) = shared.verify(shown, id) {
        return Err(Refusal::new(Reason::Certificate, error.to_string()));
    }
    if hello.protocol != shared.agreed {
        let text = format!("node {id} runs {:?}, this member runs {}", hello.protocol, shared.agreed);
        return Err(Refusal::new(Reason::Protocol, text));
    }
    if !shared.table().is_listed(id) {
        return Err(Refusal::new(Reason::NotListed, format!("node {id} is not in the list of members")));
    }
    Ok(())
}

fn check_self(shared: &Shared, process: Process) -> Result<(), Refusal> {
    if process.id != shared.me {
        return Ok(());
    }
    if process.instance == shared.instance {
        return Err(Refusal::new(Reason::Yourself, "this is the member's own address"));
    }
    Err(Refusal::new(Reason::InUse, shared.local.to_string()))
}

fn no_place(no_place: NoPlace) -> Refusal {
    match no_place {
        NoPlace::InUse { at } => Refusal::new(Reason::InUse, at.to_string()),
        NoPlace::Spare | NoPlace::Full => Refusal::new(Reason::Full, "the member takes no more connections"),
    }
}
