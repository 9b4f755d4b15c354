//! Which key groups are taken of which snapshot.

use std::ops::Range;

use crate::backend::{SnapshotPart, StateError};

/// The parts that have some of `groups`, each with those, in the order of their groups.
///
/// # Errors
/// If two parts have a group in common: nobody could say whose entries count.
pub fn disjoint<'a>(
    parts: &'a [SnapshotPart],
    groups: &Range<u32>,
) -> Result<Vec<(&'a SnapshotPart, Range<u32>)>, StateError> {
    let mut sorted: Vec<&SnapshotPart> = parts.iter().filter(|part| !part.groups.is_empty()).collect();
    sorted.sort_by_key(|part| part.groups.start);
    for pair in sorted.windows(2) {
        if pair[1].groups.start < pair[0].groups.end {
            let (path, other) = (pair[1].folder.clone(), pair[0].folder.display());
            let reason = format!("{other} has key group {} too", pair[1].groups.start);
            return Err(StateError::Store { path, doing: "take its entries", reason });
        }
    }
    let cut = |part: &'a SnapshotPart| {
        let taken = part.groups.start.max(groups.start)..part.groups.end.min(groups.end);
        (!taken.is_empty()).then_some((part, taken))
    };
    Ok(sorted.into_iter().filter_map(cut).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn part(groups: Range<u32>) -> SnapshotPart {
        SnapshotPart { folder: format!("part-{}", groups.start).into(), groups }
    }

    #[test]
    fn each_part_gives_the_groups_that_are_wanted_of_it() {
        let parts = [part(8..16), part(0..8), part(16..16)];
        let taken: Vec<_> = disjoint(&parts, &(6..9)).unwrap().into_iter().map(|(_, groups)| groups).collect();
        assert_eq!(taken, [6..8, 8..9]);
        assert_eq!(disjoint(&parts, &(0..4)).unwrap().len(), 1);
        assert!(disjoint(&parts, &(16..32)).unwrap().is_empty());
    }

    #[test]
    fn a_group_that_two_parts_have_is_refused() {
        let error = disjoint(&[part(0..9), part(8..16)], &(0..1)).unwrap_err().to_string();
        assert!(error.contains("part-8") && error.contains("key group 8"), "{error}");
    }
}
