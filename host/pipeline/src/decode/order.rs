//! Puts operators in an order in which each comes after those that it reads, or finds a circle.

/// The places in such an order; of those that could come next, the first of the file. `reads`: for each place, the places
/// that it reads.
///
/// # Errors
/// The places of a circle, each of which reads the next and the last the first, beginning with its first of the file.
pub(super) fn order(reads: &[Vec<usize>]) -> Result<Vec<usize>, Vec<usize>> {
    let mut done = vec![false; reads.len()];
    let mut order = Vec::with_capacity(reads.len());
    while order.len() < reads.len() {
        let ready = |place: &usize| !done[*place] && reads[*place].iter().all(|read| done[*read]);
        match (0..reads.len()).find(ready) {
            Some(next) => {
                done[next] = true;
                order.push(next);
            }
            None => return Err(circle(reads, &done)),
        }
    }
    Ok(order)
}

/// A circle among the places that are not done, of which each reads another such.
fn circle(reads: &[Vec<usize>], done: &[bool]) -> Vec<usize> {
    let mut way: Vec<usize> = Vec::new();
    let mut next = done.iter().position(|done| !done);
    while let Some(place) = next {
        if let Some(first) = way.iter().position(|passed| *passed == place) {
            let mut circle = way.split_off(first);
            let start = (0..circle.len()).min_by_key(|at| circle[*at]).unwrap_or(0);
            circle.rotate_left(start);
            return circle;
        }
        way.push(place);
        next = reads[place].iter().copied().find(|read| !done[*read]);
    }
    way
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn operators_keep_the_order_of_the_file_as_far_as_they_can() {
        assert_eq!(order(&[vec![], vec![], vec![0, 1]]), Ok(vec![0, 1, 2]));
        assert_eq!(order(&[vec![2], vec![], vec![1], vec![0, 2]]), Ok(vec![1, 2, 0, 3]));
        assert_eq!(order(&[]), Ok(vec![]));
    }

    #[test]
    fn a_circle_is_found_wherever_the_search_begins() {
        assert_eq!(order(&[vec![0]]), Err(vec![0]));
        assert_eq!(order(&[vec![3], vec![2], vec![3], vec![1]]), Err(vec![1, 2, 3]));
        assert_eq!(order(&[vec![], vec![0, 2], vec![0, 1]]), Err(vec![1, 2]));
    }
}
