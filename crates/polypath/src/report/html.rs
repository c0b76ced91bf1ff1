//! The report as one page without outside parts.

use core::fmt::Write;

use super::{DemoReport, chart, table};

const STYLE: &str = "body{font:16px/1.5 system-ui,sans-serif;max-width:60rem;margin:2rem auto;\
padding:0 1rem;color:#1a1a1a;background:#fff}\
table{border-collapse:collapse;margin:1rem 0}\
th,td{padding:.3rem .8rem;border-bottom:1px solid #ccc;text-align:left}\
td.value{text-align:right;font-variant-numeric:tabular-nums;white-space:nowrap}\
svg{width:100%;height:auto}";

/// Writing to a `String` cannot fail.
pub(super) fn render(report: &DemoReport) -> String {
    let mut page = String::from(
        "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
         <meta name=\"viewport\" content=\"width=device-width,initial-scale=1\">\n\
         <title>Polypath demo</title>\n",
    );
    let _ = writeln!(page, "<style>{STYLE}</style>\n</head>\n<body>\n<h1>Polypath demo</h1>");
    write_table(&mut page, report);
    for run in &report.series {
        let _ = writeln!(page, "<h2>{}</h2>", escape(&run.run));
        page.push_str(&chart::render(run));
    }
    page.push_str("</body>\n</html>\n");
    page
}

fn write_table(page: &mut String, report: &DemoReport) {
    page.push_str("<table>\n");
    for row in table::rows(report) {
        let (name, value, remark) = (escape(&row.name), escape(&row.value), escape(&row.remark));
        let _ = writeln!(
            page,
            "<tr><th>{name}</th><td class=\"value\">{value}</td><td>{remark}</td></tr>"
        );
    }
    page.push_str("</table>\n");
}

/// `text` as HTML and SVG content or attribute value.
pub(super) fn escape(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '&' => escaped.push_str("&amp;"),
            '<' => escaped.push_str("&lt;"),
            '>' => escaped.push_str("&gt;"),
            '"' => escaped.push_str("&quot;"),
            '\'' => escaped.push_str("&#39;"),
            c => escaped.push(c),
        }
    }
    escaped
}
