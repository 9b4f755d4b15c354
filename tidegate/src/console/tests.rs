//! A small terminal of our own says what a person would see.

use super::*;

/// What was written.
#[derive(Clone, Default)]
struct Written(Arc<Mutex<Vec<u8>>>);

impl Write for Written {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        self.0.lock().unwrap().extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

impl Written {
    /// The lines on a screen that only knows what the console sends.
    fn screen(&self) -> Vec<String> {
        let text = String::from_utf8(self.0.lock().unwrap().clone()).unwrap();
        let mut lines: Vec<String> = Vec::new();
        let mut rest = text.as_str();
        while !rest.is_empty() {
            if let Some(after) = [BEGIN, END].iter().find_map(|code| rest.strip_prefix(code)) {
                rest = after;
            } else if let Some(after) = rest.strip_prefix(ERASE_ALL) {
                lines.clear();
                rest = after;
            } else if let Some(after) = rest.strip_prefix("\r\x1b[") {
                let (count, after) = after.split_once('A').unwrap();
                lines.truncate(lines.len() - count.parse::<usize>().unwrap());
                rest = after.strip_prefix(ERASE_BELOW).unwrap();
            } else {
                let (line, after) = rest.split_once('\n').unwrap();
                lines.push(line.to_owned());
                rest = after;
            }
        }
        lines
    }
}

const SIZE: Size = Size { columns: 80, rows: 24 };

fn console() -> (Console, Written) {
    let written = Written::default();
    let environment = Environment { can_redraw: true, stdout_is_terminal: false, colour: false };
    (Console::over(Box::new(written.clone()), environment), written)
}

fn region(lines: &[&str]) -> Vec<String> {
    lines.iter().map(|line| (*line).to_owned()).collect()
}

#[test]
fn a_region_is_drawn_over_itself() {
    let (console, written) = console();
    console.line("warning: w");
    console.draw(region(&["a", "b", "c"]), SIZE);
    console.draw(region(&["d"]), SIZE);
    assert_eq!(written.screen(), ["warning: w", "d"]);
}

#[test]
fn a_message_stands_above_the_region() {
    let (console, written) = console();
    console.draw(region(&["a", "b"]), SIZE);
    console.line("log: hello");
    console.draw(region(&["c", "d"]), SIZE);
    assert_eq!(written.screen(), ["log: hello", "c", "d"]);
}

#[test]
fn a_region_that_is_kept_is_not_drawn_over() {
    let (console, written) = console();
    console.draw(region(&["a"]), SIZE);
    console.keep_region();
    console.line("done");
    assert_eq!(written.screen(), ["a", "done"]);
}

#[test]
fn a_region_can_be_taken_away() {
    let (console, written) = console();
    console.draw(region(&["reading"]), SIZE);
    console.clear_region();
    console.line("{}");
    assert_eq!(written.screen(), ["{}"]);
}

#[test]
fn a_terminal_of_another_width_is_drawn_from_its_top() {
    let (console, written) = console();
    console.draw(region(&["a", "b"]), SIZE);
    console.draw(region(&["c"]), Size { columns: 40, rows: 24 });
    assert_eq!(written.screen(), ["c"]);
    console.draw(region(&["d"]), Size { columns: 40, rows: 24 });
    assert_eq!(written.screen(), ["d"]);
}

#[test]
fn nothing_but_the_lines_is_written_without_a_region() {
    let (console, written) = console();
    console.line("one");
    console.line("two");
    assert_eq!(written.0.lock().unwrap().as_slice(), b"one\ntwo\n");
}
