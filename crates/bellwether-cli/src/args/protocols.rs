//! The arguments of `protocols`.

#[derive(Debug, clap::Args)]
pub(crate) struct ProtocolsArgs {
    /// Print one JSON object per algorithm, one per line
    #[arg(long)]
    pub(crate) json: bool,
}
