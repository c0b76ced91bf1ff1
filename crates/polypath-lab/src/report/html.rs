//! What all pages have in common: one file without outside parts, light or dark as the reader
//! likes it.

use core::fmt::Write;

use super::table::Row;

const STYLE: &str = ":root{color-scheme:light dark;--text:#1a1a1a;--paper:#fff;--rule:#ccc}\
@media(prefers-color-scheme:dark){:root{--text:#e6e6e6;--paper:#16181b;--rule:#4a4d52}}\
body{font:16px/1.5 system-ui,sans-serif;max-width:60rem;margin:2rem auto;\
padding:0 1rem;color:var(--text);background:var(--paper)}\
table{border-collapse:collapse;margin:1rem 0}\
th,td{padding:.3rem .8rem;border-bottom:1px solid var(--rule);text-align:left}\
td.value{text-align:right;font-variant-numeric:tabular-nums;white-space:nowrap}\
svg{width:100%;height:auto}";

/// A page of this title. `write_body` writes what stands below it.
pub(super) fn page(title: &str, write_body: impl FnOnce(&mut String)) -> String {
    let title = escape(title);
    let mut page = format!(
        "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
         <meta name=\"viewport\" content=\"width=device-width,initial-scale=1\">\n\
         <title>{title}</title>\n\
         <style>{STYLE}</style>\n</head>\n<body>\n<h1>{title}</h1>\n"
    );
    write_body(&mut page);
    page.push_str("</body>\n</html>\n");
    page
}

/// Writes a table of results. Writing to a `String` cannot fail.
pub(super) fn write_results(page: &mut String, rows: &[Row]) {
    page.push_str("<table>\n");
    for Row { name, value, remark } in rows {
        let (name, value, remark) = (escape(name), escape(value), escape(remark));
        let _ = writeln!(
            page,
            "<tr><th>{name}</th><td class=\"value\">{value}</td><td>{remark}</td></tr>"
        );
    }
    page.push_str("</table>\n");
}

/// Writes a table whose first row are the headings; the first `names` columns name the other rows.
/// Writing to a `String` cannot fail.
pub(super) fn write_table(page: &mut String, rows: &[impl AsRef<[String]>], names: usize) {
    page.push_str("<table>\n");
    for (number, row) in rows.iter().enumerate() {
        page.push_str("<tr>");
        for (column, cell) in row.as_ref().iter().enumerate() {
            let cell = escape(cell);
            let _ = match number == 0 || column < names {
                true => write!(page, "<th>{cell}</th>"),
                false => write!(page, "<td class=\"value\">{cell}</td>"),
            };
        }
        page.push_str("</tr>\n");
    }
    page.push_str("</table>\n");
}

/// Writes notes, each as a paragraph. Writing to a `String` cannot fail.
pub(super) fn write_notes(page: &mut String, notes: &[String]) {
    for note in notes {
        let _ = writeln!(page, "<p>{}</p>", escape(note));
    }
}

/// `text` as HTML and SVG content or attribute value. Characters that XML has no place for become
/// the replacement character.
pub(super) fn escape(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '&' => escaped.push_str("&amp;"),
            '<' => escaped.push_str("&lt;"),
            '>' => escaped.push_str("&gt;"),
            '"' => escaped.push_str("&quot;"),
            '\'' => escaped.push_str("&#39;"),
            c if c.is_control() && c != '\n' && c != '\t' => escaped.push('\u{fffd}'),
            c => escaped.push(c),
        }
    }
    escaped
}

/// `text`, with an ellipsis at its end if it has more than `most` characters.
pub(super) fn shortened(text: &str, most: usize) -> String {
    match text.char_indices().nth(most) {
        None => text.to_owned(),
        Some(_) => text.chars().take(most - 1).chain(['…']).collect(),
    }
}
