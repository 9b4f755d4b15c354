//! What `tidegate build` says at the end.

use std::io::{self, Write};

use super::Built;

/// Writes where the component is and what is in it, a line each.
pub(super) fn write(out: &mut impl Write, built: &Built) -> io::Result<()> {
    let facts = &built.facts;
    let imports = if facts.imports.is_empty() { "none".to_owned() } else { facts.imports.join(", ") };
    writeln!(out, "component  {}", built.path.display())?;
    writeln!(out, "size       {} bytes", grouped(facts.size))?;
    writeln!(out, "sha256     {}", facts.sha256)?;
    writeln!(out, "hooks      {}", facts.hooks.join(", "))?;
    writeln!(out, "imports    {imports}")?;
    writeln!(out, "built by   {}", built.toolchain)?;
    writeln!(
        out,
        "\nTry it: tidegate run pipeline.yaml --input events.ndjson --component {}={} --allow-unsigned",
        built.name,
        built.path.display()
    )
}

/// A number with commas: `190,050`.
fn grouped(number: usize) -> String {
    let digits = number.to_string();
    let mut text = String::new();
    for (place, digit) in digits.chars().enumerate() {
        if place > 0 && (digits.len() - place).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn groups_digits_by_three() {
        assert_eq!([7, 999, 1_000, 190_050, 12_345_678].map(grouped), ["7", "999", "1,000", "190,050", "12,345,678"]);
    }
}
