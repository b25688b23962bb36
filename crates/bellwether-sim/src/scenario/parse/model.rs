//! `[network.model]`.

use std::ops::Range;

use bellwether_proto::ident::NodeId;
use bellwether_proto::time::{Span, Time};
use bellwether_toml::{Spanned, Wrong};

use super::cluster::{Cluster, named};
use super::raw::RawModel;
use super::values::{Duration, Probability, Whole};
use crate::scenario::{LinkRule, Model, ModelKey, ModelKind, Parameters, defaults};

impl Cluster {
    pub(super) fn model(
        &self,
        raw: &RawModel,
        base: &LinkRule,
        parameters: &Parameters,
    ) -> Result<Model, Wrong> {
        let kind = named("model", &raw.kind, ModelKind::by_name, &ModelKind::ALL.map(ModelKind::name))?;
        raw.refuse_strays(kind)?;
        let mut model = Model::neutral(kind);
        for key in kind.keys() {
            match key {
                ModelKey::Source => model.source = self.source(raw.source.as_ref())?,
                ModelKey::T => model.t = self.model_t(kind, raw, parameters)?,
                ModelKey::Gst => model.gst = self.gst(raw.gst.as_ref())?,
                ModelKey::Delta => model.delta = bound(kind, raw.delta.as_ref(), base)?,
                ModelKey::Loss => model.loss = fair_loss(raw.loss.as_ref())?,
            }
        }
        Ok(model)
    }

    fn source(&self, given: Option<&Spanned<Whole>>) -> Result<NodeId, Wrong> {
        given.map_or(Ok(NodeId(1)), |given| self.node(given))
    }

    /// A default that the kind cannot keep is refused like a number in the file: a smaller one would be a stronger
    /// promise than the file speaks of.
    fn model_t(&self, kind: ModelKind, raw: &RawModel, parameters: &Parameters) -> Result<u32, Wrong> {
        let max = kind.t_max(self.nodes);
        if max == 0 {
            let least = (self.nodes..).find(|nodes| kind.t_max(*nodes) > 0).unwrap_or(self.nodes);
            let message =
                format!("too few nodes for a model of kind {}, expected at least {least}", kind.name());
            return Err(Wrong::at(raw.kind.span(), message));
        }
        let (t, whose, span): (i128, &str, Range<usize>) = match &raw.t {
            Some(t) => (t.get_ref().0, "`t`", t.span()),
            None => {
                let t = defaults::model_t(self.nodes, parameters);
                (t.into(), "`t`, taken from [parameters],", raw.kind.span())
            }
        };
        let why = match kind {
            ModelKind::Mp | ModelKind::Combined => ": with more, only a process's own response wins",
            _ => "",
        };
        let fits = u32::try_from(t).ok().filter(|t| (1..=max).contains(t));
        fits.ok_or_else(|| {
            Wrong::at(span, format!("{whose} is {t}, expected a whole number from 1 to {max}{why}"))
        })
    }

    fn gst(&self, given: Option<&Spanned<Duration>>) -> Result<Time, Wrong> {
        let Some(given) = given else { return Ok(Time::ZERO) };
        let gst = Time::ZERO + given.get_ref().0;
        if gst >= self.until {
            let (gst, until) = (given.get_ref().0, self.until.since(Time::ZERO));
            let message = format!("`gst` is {gst}, at or after `until`, expected a time before {until}");
            return Err(Wrong::at(given.span(), message));
        }
        Ok(gst)
    }
}

impl RawModel {
    /// A key without a meaning is a misunderstanding: what its author counts on will not happen.
    fn refuse_strays(&self, kind: ModelKind) -> Result<(), Wrong> {
        let given = [
            (ModelKey::Source, self.source.as_ref().map(Spanned::span)),
            (ModelKey::T, self.t.as_ref().map(Spanned::span)),
            (ModelKey::Gst, self.gst.as_ref().map(Spanned::span)),
            (ModelKey::Delta, self.delta.as_ref().map(Spanned::span)),
            (ModelKey::Loss, self.loss.as_ref().map(Spanned::span)),
        ];
        let stray = given
            .into_iter()
            .find_map(|(key, span)| span.filter(|_| !kind.reads(key)).map(|span| (key, span)));
        let Some((key, span)) = stray else { return Ok(()) };
        let known: Vec<_> = kind.keys().iter().map(|key| format!("`{}`", key.name())).collect();
        let expected = match &known[..] {
            [] => "no key but `kind`".to_owned(),
            keys => format!("besides `kind` only {}", keys.join(", ")),
        };
        let message =
            format!("`{}` means nothing to a model of kind {}, expected {expected}", key.name(), kind.name());
        Err(Wrong::at(span, message))
    }
}

fn bound(kind: ModelKind, given: Option<&Spanned<Duration>>, base: &LinkRule) -> Result<Span, Wrong> {
    let Some(given) = given else { return Ok(defaults::model_delta(kind, base.latency)) };
    let (delta, least) = (given.get_ref().0, kind.delta_min(base.latency));
    if delta < least {
        let words = if least == base.latency.low { "the shortest `latency`" } else { "a round trip" };
        let message = format!("`delta` is {delta}, shorter than {words}, expected at least {least}");
        return Err(Wrong::at(given.span(), message));
    }
    Ok(delta)
}

fn fair_loss(given: Option<&Spanned<Probability>>) -> Result<f64, Wrong> {
    let Some(given) = given else { return Ok(defaults::MODEL_LOSS) };
    let Probability(loss) = *given.get_ref();
    if loss >= 1.0 {
        return Err(Wrong::at(
            given.span(),
            "`loss` is 1, expected a probability from 0 to less than 1: a fair link lets something through",
        ));
    }
    Ok(loss)
}
