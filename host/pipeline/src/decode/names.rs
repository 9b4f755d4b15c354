//! Names of sources and operators: from what `input` says to places in the graph.

use std::collections::BTreeMap;

use super::operator::Draft;
use super::order::order;
use crate::error::PipelineError;
use crate::model::{Operator, SinkSpec, Source, Upstream};
use crate::nearest::{list, suggestion};
use crate::path::quoted;
use crate::place::Place;

/// The names of the file, and what each stands for; operators by their places in the file.
#[derive(Default)]
pub(super) struct Names<'a> {
    owners: BTreeMap<String, (Upstream, String)>,
    sources: Vec<Place<'a>>,
    operators: usize,
}

impl<'a> Names<'a> {
    /// Gives the next source its name.
    pub(super) fn add_source(&mut self, place: &Place<'a>, name: &str) -> Result<(), PipelineError> {
        self.add(place, name, Upstream::Source(self.sources.len()))?;
        self.sources.push(place.clone());
        Ok(())
    }

    /// Gives the next operator its name.
    pub(super) fn add_operator(&mut self, place: &Place<'a>, name: &str) -> Result<(), PipelineError> {
        self.add(place, name, Upstream::Operator(self.operators))?;
        self.operators += 1;
        Ok(())
    }

    fn add(&mut self, place: &Place<'a>, name: &str, owner: Upstream) -> Result<(), PipelineError> {
        let entry = place.path.strip_suffix(".name").unwrap_or(&place.path).to_owned();
        match self.owners.insert(name.to_owned(), (owner, entry)) {
            None => Ok(()),
            Some((_, first)) => {
                let reason = format!("the name {} belongs to `{first}` already; choose another", quoted(name));
                Err(place.refuse(reason))
            }
        }
    }

    /// What an `input` names.
    fn find(&self, place: &Place<'_>, itself: &str) -> Result<Upstream, PipelineError> {
        let name = place.text("the name of a source or an operator")?;
        if name == itself {
            let reason = format!("{} would read its own results; name a source or another operator", quoted(name));
            return Err(place.refuse(reason));
        }
        self.owners.get(name).map(|(owner, _)| *owner).ok_or_else(|| {
            let known: Vec<&str> = self.owners.keys().map(String::as_str).filter(|known| *known != itself).collect();
            place.refuse(format!("no source or operator is called {}; {}", quoted(name), suggestion(name, &known)))
        })
    }

    /// The operator that a sink's `input` names, by its place in [`crate::Pipeline::operators`].
    pub(super) fn sink_input(&self, place: &Place<'_>, drafts: &Drafts<'_>) -> Result<usize, PipelineError> {
        let name = place.text("the name of an operator")?;
        match self.owners.get(name) {
            Some((Upstream::Operator(at), _)) => Ok(drafts.ranks[*at]),
            Some((Upstream::Source(_), _)) => {
                let reason = format!(
                    "{} is a source, and a sink takes the results of an operator; add one that reads it, such as \
                     `{{name: cleaned, input: {name}, map: …}}`",
                    quoted(name)
                );
                Err(place.refuse(reason))
            }
            None => {
                let is_operator = |owner: &Upstream| matches!(owner, Upstream::Operator(_));
                let known = self.owners.iter().filter(|(_, (owner, _))| is_operator(owner));
                let known: Vec<&str> = known.map(|(name, _)| name.as_str()).collect();
                Err(place.refuse(format!("no operator is called {}; {}", quoted(name), suggestion(name, &known))))
            }
        }
    }
}

/// The operators of the file with their inputs found.
pub(super) struct Drafts<'a> {
    drafts: Vec<Draft<'a>>,
    /// For each operator in the order of the file, what it reads; operators by their places in the file.
    reads: Vec<Vec<Upstream>>,
    /// For each place in the file, where it stands in an order in which each comes after those that it reads.
    ranks: Vec<usize>,
}

impl<'a> Drafts<'a> {
    /// Finds every input and puts the operators in order.
    pub(super) fn resolve(drafts: Vec<Draft<'a>>, names: &Names<'_>) -> Result<Self, PipelineError> {
        let find = |draft: &Draft<'_>| draft.inputs.iter().map(|place| names.find(place, &draft.name)).collect();
        let reads = drafts.iter().map(find).collect::<Result<Vec<Vec<Upstream>>, _>>()?;
        let operators = |reads: &Vec<Upstream>| reads.iter().filter_map(as_operator).collect();
        let order = order(&reads.iter().map(operators).collect::<Vec<_>>())
            .map_err(|circle| refuse_circle(&drafts, &reads, &circle))?;
        let mut ranks = vec![0; order.len()];
        for (rank, place) in order.iter().enumerate() {
            ranks[*place] = rank;
        }
        Ok(Self { drafts, reads, ranks })
    }

    /// Refuses a source or an operator that nothing reads.
    fn every_part_is_read(
        &self,
        sources: &[Source],
        sinks: &[SinkSpec],
        names: &Names<'_>,
    ) -> Result<(), PipelineError> {
        let is_read = |upstream: Upstream| self.reads.iter().flatten().any(|read| *read == upstream);
        if let Some(at) = (0..sources.len()).find(|at| !is_read(Upstream::Source(*at))) {
            let name = quoted(&sources[at].name);
            let reason = format!("nothing reads {name}; name it as an operator's `input`, or remove it");
            return Err(names.sources[at].refuse(reason));
        }
        let to_sink = |place: usize| sinks.iter().any(|sink| sink.input == self.ranks[place]);
        let mut places = self.drafts.iter().enumerate();
        match places.find(|(place, _)| !to_sink(*place) && !is_read(Upstream::Operator(*place))) {
            None => Ok(()),
            Some((_, draft)) => {
                let name = quoted(&draft.name);
                let reason =
                    format!("nothing reads {name}; name it as the `input` of a sink or an operator, or remove it");
                Err(draft.name_place.refuse(reason))
            }
        }
    }

    /// The operators in order, each source and operator of which something reads.
    pub(super) fn finish(
        self,
        sources: &[Source],
        sinks: &[SinkSpec],
        names: &Names<'_>,
    ) -> Result<Vec<Operator>, PipelineError> {
        self.every_part_is_read(sources, sinks, names)?;
        let ranked = |upstream: &Upstream| match upstream {
            Upstream::Operator(place) => Upstream::Operator(self.ranks[*place]),
            Upstream::Source(_) => *upstream,
        };
        let reads: Vec<Vec<Upstream>> = self.reads.iter().map(|reads| reads.iter().map(ranked).collect()).collect();
        let drafts = self.drafts.into_iter().zip(reads).enumerate();
        let mut operators: Vec<Operator> = drafts
            .map(|(place, (draft, inputs))| Operator { name: draft.name, place, inputs, kind: draft.kind })
            .collect();
        operators.sort_by_key(|operator| self.ranks[operator.place]);
        Ok(operators)
    }
}

fn as_operator(upstream: &Upstream) -> Option<usize> {
    match upstream {
        Upstream::Operator(place) => Some(*place),
        Upstream::Source(_) => None,
    }
}

/// Blames the first operator of a circle, at the input by which it reads the next.
fn refuse_circle(drafts: &[Draft<'_>], reads: &[Vec<Upstream>], circle: &[usize]) -> PipelineError {
    let first = circle[0];
    let next = Upstream::Operator(circle.get(1).copied().unwrap_or(first));
    let input = reads[first].iter().position(|read| *read == next).unwrap_or(0);
    let names: Vec<&str> = circle.iter().chain([&first]).take(8).map(|place| drafts[*place].name.as_str()).collect();
    let reason = format!(
        "operators would read their own results in a circle (each of {} reads the next); break it",
        list(&names)
    );
    drafts[first].inputs[input].refuse(reason)
}
