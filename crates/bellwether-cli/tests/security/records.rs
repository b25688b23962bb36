//! What travels between members, written by hand: records with their length in front, in postcard's format.

use bellwether_proto::wire::Channel;

/// No record is longer.
pub(crate) const RECORD_MAX: u32 = 64 * 1024 + 8;
/// No record is longer that is not a frame.
pub(crate) const CONTROL_MAX: u32 = 512;

/// What records begin with.
pub(crate) const HELLO: u8 = 0;
pub(crate) const WELCOME: u8 = 1;
pub(crate) const REFUSED: u8 = 2;
pub(crate) const FRAME: u8 = 3;
pub(crate) const PONG: u8 = 5;
pub(crate) const DUPLICATE: u8 = 6;

/// Why a connection is refused, as the third byte of `Refused` says: the second is who refuses.
pub(crate) const CERTIFICATE: u8 = 3;
pub(crate) const IN_USE: u8 = 5;

/// "I am that node, in that incarnation; this is my process."
pub(crate) fn hello(id: u32, incarnation: u64, instance: u64) -> Vec<u8> {
    const VERSION: u8 = 1;
    let mut body = vec![HELLO, VERSION];
    varint(Channel::of_cluster("test").cluster, &mut body);
    body.extend(b"\x03fjr");
    [u64::from(id), incarnation, instance].into_iter().for_each(|number| varint(number, &mut body));
    record(&body)
}

/// "You are welcome. I am that node, in that incarnation; this is my process."
pub(crate) fn welcome(id: u32, incarnation: u64, instance: u64) -> Vec<u8> {
    let mut body = vec![WELCOME];
    [u64::from(id), incarnation, instance].into_iter().for_each(|number| varint(number, &mut body));
    record(&body)
}

/// "A process there claims your id."
pub(crate) fn duplicate(at: &str) -> Vec<u8> {
    let mut body = vec![DUPLICATE];
    varint(at.len() as u64, &mut body);
    body.extend(at.as_bytes());
    record(&body)
}

/// An encoded frame.
pub(crate) fn frame(encoded: &[u8]) -> Vec<u8> {
    let mut body = vec![FRAME];
    varint(encoded.len() as u64, &mut body);
    body.extend(encoded);
    record(&body)
}

/// An answer to a question that nobody asked.
pub(crate) fn pong(no: u64) -> Vec<u8> {
    let mut body = vec![PONG];
    varint(no, &mut body);
    record(&body)
}

/// Any bytes, with their length in front.
pub(crate) fn record(body: &[u8]) -> Vec<u8> {
    let length = u32::try_from(body.len()).expect("records are short");
    [&length.to_le_bytes(), body].concat()
}

fn varint(mut number: u64, bytes: &mut Vec<u8>) {
    while number > 0x7f {
        bytes.push(number as u8 | 0x80);
        number >>= 7;
    }
    bytes.push(number as u8);
}

/// Numbers that look random, and are the same in every run.
pub(crate) struct Random(pub(crate) u64);

impl Random {
    /// Splitmix64.
    pub(crate) fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    pub(crate) fn below(&mut self, bound: usize) -> usize {
        usize::try_from(self.next() % bound as u64).expect("it is below")
    }

    pub(crate) fn bytes(&mut self, count: usize) -> Vec<u8> {
        (0..count).map(|_| self.next() as u8).collect()
    }
}
