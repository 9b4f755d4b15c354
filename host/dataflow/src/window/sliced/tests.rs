//! Slices and the windows over them, against the plain enumeration of windows.

use tidegate_windows::covering_windows;

use super::*;

/// For every small grid: a record's slice lies in exactly the windows that hold the record.
#[test]
fn a_slice_lies_in_the_windows_that_hold_its_times() {
    for (size, slide, offset) in [(10, 5, 0), (7, 3, 1), (9, 2, 0), (10, 3, 2), (600, 1, 0), (5, 4, 3)] {
        let (size, slide, offset) = (Millis(size), Millis(slide), Millis(offset));
        let sliced = Sliced::new(size, slide, offset, Millis(0), Late::None);
        for time in -40..40 {
            let slice = sliced.grid.slice_of(time);
            assert!(slice.start <= time && time < slice.end);
            let windows: Vec<WindowSpan> = covering_windows(time, size, slide, offset).collect();
            for window in &windows {
                assert!(window.start <= slice.start && slice.end <= window.end, "{size:?} {slide:?} {time}");
            }
            let (target, partly_late) = sliced.target(time, Watermark::MIN).expect("nothing is late");
            assert!(!partly_late);
            assert_eq!(Some(target.first_end), windows.first().map(|window| window.end));
            assert_eq!(Some(target.last_end), windows.last().map(|window| window.end));
        }
    }
}

#[test]
fn windows_that_are_gone_are_left_out() {
    let sliced = Sliced::new(Millis(10), Millis(3), Millis(0), Millis(2), Late::EveryElement);
    for time in -20..20 {
        for watermark in (-30..40).map(Watermark::at) {
            let all: Vec<WindowSpan> = covering_windows(time, Millis(10), Millis(3), Millis(0)).collect();
            let kept: Vec<WindowSpan> =
                all.iter().filter(|window| !is_gone(window.end, Millis(2), watermark)).copied().collect();
            match sliced.target(time, watermark) {
                None => assert!(kept.is_empty()),
                Some((target, partly_late)) => {
                    assert_eq!(partly_late, kept.len() < all.len());
                    assert_eq!(
                        (Some(target.first_end), Some(target.last_end)),
                        (kept.first().map(|w| w.end), kept.last().map(|w| w.end))
                    );
                    let ended: Vec<WindowSpan> = kept.iter().filter(|w| watermark.reached(w.end)).copied().collect();
                    assert_eq!(sliced.late_windows(target, watermark).collect::<Vec<_>>(), ended);
                }
            }
        }
    }
}
