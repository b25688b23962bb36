//! Who a member is, to peers that want proof.

/// A certificate authority's certificate, and a member's own certificate and key, as PEM.
#[derive(Clone)]
pub struct Identity {
    /// The authority that all members trust.
    pub ca: String,
    /// This member's certificate.
    pub cert: String,
    /// Its private key.
    pub key: String,
}

impl std::fmt::Debug for Identity {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Identity")
    }
}
