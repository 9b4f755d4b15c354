//! Which kept sessions of a key a record's own window merges with (docs/semantics.md, 3).

use tidegate_types::Millis;

use crate::assign::WindowSpan;

/// The outcome of bringing a record's own window to the kept sessions of its key.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SessionMerge {
    /// The window after merging.
    pub span: WindowSpan,
    /// The places of the sessions that are parts of it, in order of start.
    pub parts: Vec<usize>,
}

/// Merges `own` with the sessions that it overlaps.
///
/// `kept` is in order of start, then end. Without `max_duration` every session that overlaps the merged window so far is
/// a part. With it, each session that overlaps the record's own window is, unless the merged window so far would last
/// longer than that.
#[must_use]
pub fn merge_session(own: WindowSpan, kept: &[WindowSpan], max_duration: Option<Millis>) -> SessionMerge {
    let mut merge = SessionMerge { span: own, parts: Vec::new() };
    for (place, session) in kept.iter().enumerate() {
        if !own.overlaps(*session) {
            continue;
        }
        let hull = merge.span.hull(*session);
        if max_duration.is_none_or(|most| hull.length() <= most.0) {
            merge.span = hull;
            merge.parts.push(place);
        }
    }
    merge
}

#[cfg(test)]
mod tests {
    use super::*;

    fn span(start: i64, end: i64) -> WindowSpan {
        WindowSpan { start, end }
    }

    #[test]
    fn records_exactly_a_gap_apart_are_two_sessions() {
        let kept = [span(0, 10)];
        assert_eq!(merge_session(span(10, 20), &kept, None).parts, Vec::<usize>::new());
        assert_eq!(merge_session(span(9, 19), &kept, None), SessionMerge { span: span(0, 19), parts: vec![0] });
    }

    #[test]
    fn a_record_can_bridge_sessions() {
        let kept = [span(0, 10), span(15, 30), span(40, 50)];
        assert_eq!(merge_session(span(8, 18), &kept, None), SessionMerge { span: span(0, 30), parts: vec![0, 1] });
    }

    #[test]
    fn a_merge_that_would_last_too_long_leaves_that_session_out() {
        let kept = [span(0, 10), span(12, 20)];
        let merge = merge_session(span(9, 14), &kept, Some(Millis(15)));
        assert_eq!(merge, SessionMerge { span: span(0, 14), parts: vec![0] });
    }
}
