//! Connections over TLS, as the client of PostgreSQL wants to have them.

use std::future::Future;
use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use rustls::pki_types::ServerName;
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio_postgres::tls::{ChannelBinding, MakeTlsConnect, TlsConnect};
use tokio_rustls::{TlsConnector, client};

use crate::arbiter::Trouble;
use crate::arbiter::tls::ClientTls;

/// How connections are secured, if they are.
#[derive(Clone)]
pub(super) struct Tls(Option<TlsConnector>);

impl Tls {
    pub(super) fn new(tls: Option<&ClientTls>) -> Result<Self, Trouble> {
        let config = tls.map(ClientTls::config).transpose()?;
        Ok(Self(config.map(|config| TlsConnector::from(Arc::new(config)))))
    }
}

/// A connection that is about to be secured.
pub(super) struct Securing {
    connector: Option<TlsConnector>,
    host: String,
}

/// One that is.
pub(super) struct Secured<S>(client::TlsStream<S>);

impl<S: AsyncRead + AsyncWrite + Unpin + Send + 'static> MakeTlsConnect<S> for Tls {
    type Stream = Secured<S>;
    type TlsConnect = Securing;
    type Error = io::Error;

    fn make_tls_connect(&mut self, domain: &str) -> Result<Securing, io::Error> {
        Ok(Securing { connector: self.0.clone(), host: domain.to_owned() })
    }
}

impl<S: AsyncRead + AsyncWrite + Unpin + Send + 'static> TlsConnect<S> for Securing {
    type Stream = Secured<S>;
    type Error = io::Error;
    type Future = Pin<Box<dyn Future<Output = io::Result<Secured<S>>> + Send>>;

    fn connect(self, stream: S) -> Self::Future {
        Box::pin(async move {
            let Some(connector) = self.connector else {
                return Err(io::Error::other("the server wants TLS, and no authority is trusted"));
            };
            let name = ServerName::try_from(self.host).map_err(io::Error::other)?;
            connector.connect(name, stream).await.map(Secured)
        })
    }
}

impl<S: AsyncRead + AsyncWrite + Unpin> tokio_postgres::tls::TlsStream for Secured<S> {
    fn channel_binding(&self) -> ChannelBinding {
        ChannelBinding::none()
    }
}

impl<S: AsyncRead + AsyncWrite + Unpin> AsyncRead for Secured<S> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buf: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        Pin::new(&mut self.0).poll_read(cx, buf)
    }
}

impl<S: AsyncRead + AsyncWrite + Unpin> AsyncWrite for Secured<S> {
    fn poll_write(mut self: Pin<&mut Self>, cx: &mut Context<'_>, buf: &[u8]) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.0).poll_write(cx, buf)
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.0).poll_flush(cx)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.0).poll_shutdown(cx)
    }
}
