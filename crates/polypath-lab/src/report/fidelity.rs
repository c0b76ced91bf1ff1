//! The page of a comparison in cells.

use super::html;

/// A page with a table whose first row are the headings, and notes below it; the first column names
/// the other rows.
pub fn page<const N: usize>(title: &str, rows: &[[String; N]], notes: &[String]) -> String {
    html::page(title, |page| {
        html::write_table(page, rows, 1);
        html::write_notes(page, notes);
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
