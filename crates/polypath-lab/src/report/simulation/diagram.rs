//! The network as a drawing, and as a table for those who cannot see it.

use core::fmt::Write;
use std::time::Duration;

use polypath_link::{LinkConfig, Rate};
use polypath_sim::topology::{LinkId, NodeId, Topology};
use polypath_units::millis;

use super::layout::{Layout, Place};
use crate::report::html::{escape, shortened};

/// What is larger than that cannot be read.
const MOST_COLUMNS: usize = 17;
const MOST_ROWS: usize = 24;

const COLUMN: f64 = 140.0;
const ROW: f64 = 62.0;
const MARGIN: f64 = 80.0;
const NAME_LENGTH: usize = 18;
/// About the width of a letter.
const LETTER: f64 = 7.5;

/// A network: nodes, and pairs of links that join them.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Diagram {
    /// The names of the nodes.
    pub nodes: Vec<String>,
    /// The pairs of links.
    pub links: Vec<DiagramLink>,
}

/// A pair of links.
#[derive(Clone, Debug, PartialEq)]
pub struct DiagramLink {
    /// The name.
    pub name: String,
    /// Where the link up begins: a place in [`Diagram::nodes`].
    pub from: usize,
    /// Where it ends.
    pub to: usize,
    /// From `from` to `to`.
    pub up: Half,
    /// Back.
    pub down: Half,
}

/// A direction of a link, as text with units.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Half {
    /// The rate.
    pub rate: String,
    /// The propagation delay.
    pub delay: String,
}

impl From<&Topology> for Diagram {
    fn from(topology: &Topology) -> Self {
        let links = (0..topology.edges().len() as u32).map(LinkId);
        let ups = links.filter(|&link| link < topology.edge(link).reverse);
        let link = |up| {
            let edge = topology.edge(up);
            let [NodeId(from), NodeId(to)] = [edge.from, edge.to];
            DiagramLink {
                name: edge.name.clone(),
                from: from as usize,
                to: to as usize,
                up: Half::of(&edge.config),
                down: Half::of(&topology.edge(edge.reverse).config),
            }
        };
        Self { nodes: topology.nodes().to_vec(), links: ups.map(link).collect() }
    }
}

impl Half {
    fn of(link: &LinkConfig) -> Self {
        let reference = link.rate.reference();
        let rate = match &link.rate {
            Rate::Constant(rate) => rate.to_string(),
            Rate::Schedule { .. } => format!("up to {reference}"),
            Rate::Trace { .. } => format!("{:.1} Mbit/s on average", reference.mbit_per_sec()),
        };
        Self { rate, delay: delay_text(link.delay) }
    }

    fn text(&self) -> String {
        format!("{}, {}", self.rate, self.delay)
    }
}

fn delay_text(delay: Duration) -> String {
    format!("{} ms", millis(delay))
}

/// Writes the network. Writing to a `String` cannot fail.
pub(super) fn write(page: &mut String, diagram: &Diagram) {
    let ends: Vec<_> = diagram.links.iter().map(|link| (link.from, link.to)).collect();
    let layout = Layout::new(diagram.nodes.len(), &ends);
    if (1..=MOST_COLUMNS).contains(&layout.columns) && layout.rows <= MOST_ROWS {
        draw(page, diagram, &layout);
    }
    write_table(page, diagram);
}

fn write_table(page: &mut String, diagram: &Diagram) {
    let heads = ["link", "from", "to", "up", "down"].map(|head| format!("<th>{head}</th>"));
    let _ = writeln!(
        page,
        "<details><summary>{} nodes, {} links</summary>\n<table>\n<tr>{}</tr>",
        diagram.nodes.len(),
        diagram.links.len(),
        heads.concat()
    );
    for link in &diagram.links {
        let [from, to] = [link.from, link.to].map(|node| diagram.nodes[node].clone());
        let cells = [from, to, link.up.text(), link.down.text()];
        let cells = cells.map(|cell| format!("<td>{}</td>", escape(&cell))).concat();
        let _ = writeln!(page, "<tr><th>{}</th>{cells}</tr>", escape(&link.name));
    }
    page.push_str("</table>\n</details>\n");
}

fn draw(page: &mut String, diagram: &Diagram, layout: &Layout) {
    let width = 2.0 * MARGIN + (layout.columns - 1) as f64 * COLUMN;
    // What is wider than the page is scrolled, not made too small to read.
    let least = (0.75 * width).round();
    let height = layout.rows as f64 * ROW + 20.0;
    let at =
        |place: &Place| (MARGIN + place.column as f64 * COLUMN, height / 2.0 + place.row * ROW);
    let _ = writeln!(
        page,
        "<div style=\"overflow-x:auto\">\n<svg viewBox=\"0 0 {width} {height}\" \
         xmlns=\"http://www.w3.org/2000/svg\" role=\"img\" \
         font-family=\"system-ui,sans-serif\" font-size=\"12\" fill=\"currentColor\" \
         style=\"max-width:{width}px;min-width:{least}px\">\n\
         <title>Nodes and links of the network</title>"
    );
    let curves = layout.links.iter().map(|places| places.iter().map(at).collect::<Vec<_>>());
    let links: Vec<_> = diagram.links.iter().zip(curves).collect();
    links.iter().for_each(|(_, places)| draw_curve(page, places));
    links.iter().for_each(|(link, places)| describe(page, link, places));
    for (name, place) in diagram.nodes.iter().zip(&layout.nodes) {
        draw_node(page, name, at(place));
    }
    page.push_str("</svg>\n</div>\n");
}

/// A curve that leaves and enters every place level.
fn draw_curve(page: &mut String, places: &[(f64, f64)]) {
    let Some(&(x, y)) = places.first() else { return };
    let mut curve = format!("M{x:.1} {y:.1}");
    for pair in places.windows(2) {
        let [(x0, y0), (x, y)] = [pair[0], pair[1]];
        let middle = (x0 + x) / 2.0;
        let _ = write!(curve, "C{middle:.1} {y0:.1} {middle:.1} {y:.1} {x:.1} {y:.1}");
    }
    let _ = writeln!(
        page,
        "<path d=\"{curve}\" fill=\"none\" stroke=\"currentColor\" stroke-opacity=\".55\" \
         stroke-width=\"2\"/>"
    );
}

/// What a link is called and what it is like, at its first bend.
fn describe(page: &mut String, link: &DiagramLink, places: &[(f64, f64)]) {
    let Some(&(x, y)) = places.get(1).or(places.first()) else { return };
    let name = shortened(&link.name, NAME_LENGTH);
    write_label(page, x, y - 7.0, "600", &name);
    for (line, text) in (0..).zip(facts(link)) {
        write_label(page, x, y + 16.0 + f64::from(line) * 14.0, "400", &text);
    }
}

/// Text that hides the curves behind it.
fn write_label(page: &mut String, x: f64, y: f64, weight: &str, text: &str) {
    let _ = writeln!(
        page,
        "<text x=\"{x:.1}\" y=\"{y:.1}\" text-anchor=\"middle\" font-weight=\"{weight}\" \
         stroke=\"var(--paper)\" stroke-width=\"4\" paint-order=\"stroke\">{}</text>",
        escape(text)
    );
}

/// What a link is like, once if both directions are alike.
fn facts(link: &DiagramLink) -> Vec<String> {
    match link.up == link.down {
        true => vec![link.up.text()],
        false => vec![format!("up {}", link.up.text()), format!("down {}", link.down.text())],
    }
}

fn draw_node(page: &mut String, name: &str, (x, y): (f64, f64)) {
    let name = shortened(name, NAME_LENGTH);
    let width = name.chars().count() as f64 * LETTER + 18.0;
    let _ = writeln!(
        page,
        "<rect x=\"{:.1}\" y=\"{:.1}\" width=\"{width:.1}\" height=\"28\" rx=\"6\" \
         fill=\"var(--paper)\" stroke=\"currentColor\"/>\
         <text x=\"{x:.1}\" y=\"{:.1}\" text-anchor=\"middle\">{}</text>",
        x - width / 2.0,
        y - 14.0,
        y + 4.0,
        escape(&name)
    );
}
