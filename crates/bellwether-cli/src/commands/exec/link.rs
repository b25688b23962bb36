//! A line between two of our processes: whole messages, and a file descriptor with them.

use std::io::{self, IoSlice, IoSliceMut, Stdin};
use std::mem::MaybeUninit;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd, RawFd};

use rustix::io::Errno;
use rustix::net::{
    AddressFamily, RecvAncillaryBuffer, RecvAncillaryMessage, RecvFlags, SendAncillaryBuffer,
    SendAncillaryMessage, SendFlags, SocketFlags, SocketType, recvmsg, sendmsg, socketpair,
};
use serde::Serialize;
use serde::de::DeserializeOwned;

/// No message is longer.
const MESSAGE_MAX: usize = 16 << 10;

/// One end of it. Whoever has the other end is told when this goes, however its process ends.
#[derive(Debug)]
pub(super) struct Link(OwnedFd);

impl Link {
    /// Both ends; the second is for another process.
    pub(super) fn pair() -> io::Result<(Self, OwnedFd)> {
        let (ours, theirs) =
            socketpair(AddressFamily::UNIX, SocketType::SEQPACKET, SocketFlags::CLOEXEC, None)?;
        Ok((Self(ours), theirs))
    }

    /// The end that this process was started with in the place of its standard input.
    pub(super) fn given(stdin: &Stdin) -> io::Result<Self> {
        Ok(Self(stdin.as_fd().try_clone_to_owned()?))
    }

    /// Sends it at once, or not at all: an error means that the other side does not listen.
    pub(super) fn send(&self, message: &impl Serialize, with: Option<BorrowedFd<'_>>) -> io::Result<()> {
        let bytes = serde_json::to_vec(message).map_err(io::Error::other)?;
        assert!(bytes.len() <= MESSAGE_MAX, "our messages are short");
        let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(1))];
        let mut ancillary = SendAncillaryBuffer::new(&mut space);
        let fds: Vec<_> = with.into_iter().collect();
        if !fds.is_empty() {
            ancillary.push(SendAncillaryMessage::ScmRights(&fds));
        }
        let flags = SendFlags::NOSIGNAL | SendFlags::DONTWAIT;
        sendmsg(&self.0, &[IoSlice::new(&bytes)], &mut ancillary, flags)?;
        Ok(())
    }

    /// Waits for the next message, and what came with it; `None` when the other end is gone.
    pub(super) fn receive<T: DeserializeOwned>(&self) -> io::Result<Option<(T, Option<OwnedFd>)>> {
        self.take(RecvFlags::empty())
    }

    /// The next message, if one is there: otherwise the error is [`io::ErrorKind::WouldBlock`].
    pub(super) fn try_receive<T: DeserializeOwned>(&self) -> io::Result<Option<T>> {
        Ok(self.take(RecvFlags::DONTWAIT)?.map(|(message, _)| message))
    }

    fn take<T: DeserializeOwned>(&self, flags: RecvFlags) -> io::Result<Option<(T, Option<OwnedFd>)>> {
        let (mut bytes, mut space) =
            ([0; MESSAGE_MAX], [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(1))]);
        let mut ancillary = RecvAncillaryBuffer::new(&mut space);
        let got = loop {
            let into = &mut [IoSliceMut::new(&mut bytes)];
            match recvmsg(&self.0, into, &mut ancillary, flags | RecvFlags::CMSG_CLOEXEC) {
                Ok(got) => break got.bytes,
                Err(Errno::INTR) => {}
                // The other end is gone, and had not read everything.
                Err(Errno::CONNRESET) => break 0,
                Err(error) => return Err(error.into()),
            }
        };
        let with = ancillary.drain().find_map(|message| match message {
            RecvAncillaryMessage::ScmRights(mut fds) => fds.next(),
            _ => None,
        });
        if got == 0 {
            return Ok(None);
        }
        Ok(Some((serde_json::from_slice(&bytes[..got])?, with)))
    }
}

impl AsRawFd for Link {
    fn as_raw_fd(&self) -> RawFd {
        self.0.as_raw_fd()
    }
}

impl AsFd for Link {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.0.as_fd()
    }
}

#[cfg(test)]
mod tests {
    use std::fs::File;
    use std::io::{Read, Seek, Write};

    use super::*;

    #[test]
    fn messages_are_whole_and_bring_a_file_along() {
        let (ours, theirs) = Link::pair().unwrap();
        let theirs = Link(theirs);
        assert_eq!(theirs.try_receive::<u32>().unwrap_err().kind(), io::ErrorKind::WouldBlock);
        let mut file = tempfile::tempfile().unwrap();
        file.write_all(b"here").unwrap();
        file.rewind().unwrap();
        ours.send(&1, None).unwrap();
        ours.send(&2, Some(file.as_fd())).unwrap();
        assert_eq!(theirs.try_receive::<u32>().unwrap(), Some(1));
        let (two, with) = theirs.receive::<u32>().unwrap().unwrap();
        let mut text = String::new();
        File::from(with.expect("a file came along")).read_to_string(&mut text).unwrap();
        assert_eq!((two, text.as_str()), (2, "here"));
        drop(ours);
        assert!(theirs.receive::<u32>().unwrap().is_none());
        assert!(theirs.send(&3, None).is_err());
    }
}
