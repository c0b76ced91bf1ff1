//! The page of a comparison in cells.

use core::fmt::Write;

use super::html::{self, escape};

/// A page with a table whose first row are the headings, and notes below it; the first column names
/// the other rows. Writing to a `String` cannot fail.
pub fn page<const N: usize>(title: &str, rows: &[[String; N]], notes: &[String]) -> String {
    html::page(title, |page| {
        page.push_str("<table>\n");
        for (number, row) in rows.iter().enumerate() {
            page.push_str("<tr>");
            for (column, cell) in row.iter().enumerate() {
                let cell = escape(cell);
                let _ = match number == 0 || column == 0 {
                    true => write!(page, "<th>{cell}</th>"),
                    false => write!(page, "<td class=\"value\">{cell}</td>"),
                };
            }
            page.push_str("</tr>\n");
        }
        page.push_str("</table>\n");
        for note in notes {
            let _ = writeln!(page, "<p>{}</p>", escape(note));
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::well_formed::assert_well_formed;

    #[test]
    fn the_page_has_all_cells_and_notes() {
        let rows = [["cell", "ms"], ["a < b", "1.0"]].map(|row| row.map(str::to_owned));
        let text = page("x & y", &rows, &["b > a".to_owned()]);
        assert_well_formed(&text);
        assert!(text.contains("<p>b &gt; a</p>"));
        assert!(text.contains("<tr><th>a &lt; b</th><td class=\"value\">1.0</td></tr>"));
    }
}
