//! Lines over an axis as SVG.
//!
//! Colours are those of Okabe and Ito (2008), which people with any kind of colour vision tell
//! apart; each line has its own dashes too, so that the chart survives a black-and-white printer.
//! Everything else has the colour of the text around the chart.

use core::fmt::Write;

use super::html::{escape, shortened};
use super::thin::thin;

const WIDTH: f64 = 860.0;
const LEFT: f64 = 70.0;
const RIGHT: f64 = 840.0;
/// From the top to the plot, with up to two rows of names.
const HEAD: f64 = 70.0;
const PLOT: f64 = 255.0;
const FOOT: f64 = 55.0;
/// Names in a row of the legend, and how long they may be.
const IN_A_ROW: usize = 4;
const NAME_LENGTH: usize = 20;
const LEGEND_ROW: f64 = 18.0;
/// No digit of the axes is wider.
const DIGIT_WIDTH: f64 = 8.0;
/// More points than the chart is wide are not seen.
const MOST_POINTS: usize = 2_000;

/// Okabe and Ito's palette without black, which is the text, and yellow, which white swallows.
const COLOURS: [&str; 6] = ["#0072B2", "#D55E00", "#009E73", "#CC79A7", "#56B4E9", "#E69F00"];
const DASHES: [&str; 4] = ["none", "8 4", "2 3", "10 3 2 3"];
/// So many lines differ in colour and dashes together.
pub(super) const DISTINCT: usize = 12;

/// What one line shows.
#[derive(Clone, Debug, PartialEq)]
pub struct Line {
    /// What the legend calls it.
    pub name: String,
    /// Points, `x` ascending.
    pub points: Vec<(f64, f64)>,
}

/// Something that happened, shown as a line across.
#[derive(Clone, Debug, PartialEq)]
pub struct Mark {
    /// When, on the axis of the chart.
    pub x: f64,
    /// What.
    pub text: String,
    /// In which of two rows the text stands, 0 or 1.
    pub row: u8,
}

/// What an axis shows, and how far it reaches at least.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Axis<'a> {
    /// Quantity and unit.
    pub(super) label: &'a str,
    pub(super) at_least: f64,
}

/// A chart with both axes from zero.
#[derive(Clone, Debug)]
pub(super) struct Chart<'a> {
    pub(super) title: String,
    pub(super) x: Axis<'a>,
    pub(super) y: Axis<'a>,
    pub(super) lines: &'a [Line],
    pub(super) marks: &'a [Mark],
}

impl<'a> Axis<'a> {
    /// As far as the data.
    pub(super) const fn new(label: &'a str) -> Self {
        Self { label, at_least: 0.0 }
    }
}

/// From data to the plane of the drawing.
struct Scale {
    x_max: f64,
    y_max: f64,
    top: f64,
}

impl Scale {
    fn of(chart: &Chart<'_>) -> Self {
        let points = || chart.lines.iter().flat_map(|line| &line.points);
        let marks = chart.marks.iter().map(|mark| mark.x);
        let x_max = points().map(|point| point.0).chain(marks).fold(chart.x.at_least, f64::max);
        let y_max = points().map(|point| point.1).fold(chart.y.at_least, f64::max);
        let positive = |max: f64| if max > 0.0 { max } else { 1.0 };
        let (x_max, y_max) = (positive(x_max), positive(y_max));
        let rows = chart.lines.len().div_ceil(IN_A_ROW).max(2) - 2;
        let top = HEAD + rows as f64 * LEGEND_ROW;
        Self { x_max, y_max: (y_max / step(y_max)).ceil() * step(y_max), top }
    }

    fn bottom(&self) -> f64 {
        self.top + PLOT
    }

    fn x(&self, x: f64) -> f64 {
        LEFT + (RIGHT - LEFT) * (x / self.x_max).clamp(0.0, 1.0)
    }

    fn y(&self, y: f64) -> f64 {
        self.bottom() - PLOT * (y / self.y_max).clamp(0.0, 1.0)
    }
}

/// The distance of ticks, 1, 2 or 5 times a power of ten, that makes 4 to 10 of them up to `max`.
fn step(max: f64) -> f64 {
    let power = 10f64.powf((max / 10.0).log10().ceil());
    [0.2, 0.5].into_iter().map(|part| part * power).find(|s| max / s <= 10.0).unwrap_or(power)
}

fn ticks(max: f64) -> impl Iterator<Item = f64> {
    let step = step(max);
    // A tick that rounding pushes past the end still counts.
    (0..=(max / step + 1e-9) as u32).map(move |i| f64::from(i) * step)
}

/// The chart as SVG. Writing to a `String` cannot fail.
pub(super) fn render(chart: &Chart<'_>) -> String {
    let scale = Scale::of(chart);
    let mut svg = String::new();
    let (title, height) = (escape(&chart.title), scale.bottom() + FOOT);
    let _ = writeln!(
        svg,
        "<svg viewBox=\"0 0 {WIDTH} {height}\" xmlns=\"http://www.w3.org/2000/svg\" role=\"img\" \
         font-family=\"system-ui,sans-serif\" font-size=\"13\" fill=\"currentColor\">\n\
         <title>{title}</title>"
    );
    axes(&mut svg, &scale, chart);
    chart.marks.iter().for_each(|mark| draw_mark(&mut svg, &scale, mark));
    for (index, line) in chart.lines.iter().enumerate() {
        draw_line(&mut svg, &scale, index, line);
        legend(&mut svg, index, &line.name);
    }
    svg.push_str("</svg>\n");
    svg
}

fn axes(svg: &mut String, scale: &Scale, chart: &Chart<'_>) {
    let (top, bottom) = (scale.top, scale.bottom());
    for tick in ticks(scale.y_max) {
        let (y, below) = (scale.y(tick), scale.y(tick) + 4.0);
        let (end, label) = (LEFT - 8.0, number(tick));
        let _ = writeln!(
            svg,
            "<path d=\"M{LEFT} {y:.1}H{RIGHT}\" stroke=\"currentColor\" stroke-opacity=\".15\"/>\
             <text x=\"{end}\" y=\"{below:.1}\" text-anchor=\"end\">{label}</text>"
        );
    }
    for tick in ticks(scale.x_max) {
        let (y, label) = (bottom + 18.0, number(tick));
        // A long number at the end of the axis moves in, or the edge cuts it off.
        let x = scale.x(tick).min(WIDTH - DIGIT_WIDTH / 2.0 * label.len() as f64);
        let _ = writeln!(svg, "<text x=\"{x:.1}\" y=\"{y}\" text-anchor=\"middle\">{label}</text>");
    }
    let (x, y) = ((LEFT + RIGHT) / 2.0, (top + bottom) / 2.0);
    let _ = writeln!(
        svg,
        "<path d=\"M{LEFT} {top}V{bottom}H{RIGHT}\" fill=\"none\" stroke=\"currentColor\"/>\n\
         <text x=\"{x}\" y=\"{}\" text-anchor=\"middle\">{}</text>\n\
         <text x=\"18\" y=\"{y}\" text-anchor=\"middle\" transform=\"rotate(-90 18 {y})\">\
         {}</text>",
        bottom + FOOT - 12.0,
        escape(chart.x.label),
        escape(chart.y.label)
    );
}

/// A number without the digits that floating point adds.
pub(super) fn number(tick: f64) -> String {
    let text = format!("{tick:.6}");
    text.trim_end_matches('0').trim_end_matches('.').to_owned()
}

/// A line across, with its text on the side with more room.
fn draw_mark(svg: &mut String, scale: &Scale, mark: &Mark) {
    let (x, y) = (scale.x(mark.x), scale.top - 6.0 - 16.0 * f64::from(mark.row));
    let (anchor, dx) = if x < (LEFT + RIGHT) / 2.0 { ("start", 4) } else { ("end", -4) };
    let _ = writeln!(
        svg,
        "<path d=\"M{x:.1} {y}V{}\" stroke=\"currentColor\" stroke-dasharray=\"4 3\"/>\
         <text x=\"{x:.1}\" y=\"{y}\" dx=\"{dx}\" text-anchor=\"{anchor}\">{}</text>",
        scale.bottom(),
        escape(&mark.text)
    );
}

fn draw_line(svg: &mut String, scale: &Scale, index: usize, line: &Line) {
    let mut points = String::new();
    for (x, y) in thin(&line.points, MOST_POINTS) {
        let _ = write!(points, "{:.1},{:.1} ", scale.x(x), scale.y(y));
    }
    let (colour, dash) = style(index);
    let _ = writeln!(
        svg,
        "<polyline points=\"{}\" fill=\"none\" stroke=\"{colour}\" stroke-width=\"2\" \
         stroke-dasharray=\"{dash}\"/>",
        points.trim_end()
    );
}

fn legend(svg: &mut String, index: usize, name: &str) {
    let (colour, dash) = style(index);
    let x = LEFT + (index % IN_A_ROW) as f64 * 190.0;
    let y = 14.0 + (index / IN_A_ROW) as f64 * LEGEND_ROW;
    let _ = writeln!(
        svg,
        "<path d=\"M{x} {y}h34\" stroke=\"{colour}\" stroke-width=\"2\" \
         stroke-dasharray=\"{dash}\"/><text x=\"{}\" y=\"{}\">{}</text>",
        x + 42.0,
        y + 4.0,
        escape(&shortened(name, NAME_LENGTH))
    );
}

/// Colour and dashes: different for the first twelve lines.
const fn style(index: usize) -> (&'static str, &'static str) {
    (COLOURS[index % COLOURS.len()], DASHES[index % DASHES.len()])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ticks_are_round_and_few() {
        for (max, expected) in [(1.0, 0.1), (93.0, 10.0), (140.0, 20.0), (260.0, 50.0), (7.5, 1.0)]
        {
            assert!((step(max) - expected).abs() < 1e-9, "{max}: {}", step(max));
        }
        for max in [0.003, 0.7, 1.0, 9.9, 10.0, 11.0, 49.0, 51.0, 12_345.0] {
            let count = ticks(max).count();
            assert!((5..=11).contains(&count), "{max}: {count} ticks with the one at zero");
        }
        assert_eq!(number(0.30000000000000004), "0.3");
        assert_eq!(number(200.0), "200");
    }

    #[test]
    fn a_long_number_at_the_end_of_the_axis_is_not_cut_off() {
        let line = Line { name: "a".to_owned(), points: vec![(0.0, 0.0), (100_000.0, 1.0)] };
        let svg = render(&Chart {
            title: String::new(),
            x: Axis::new("buffer (packets)"),
            y: Axis::new("share"),
            lines: &[line],
            marks: &[],
        });
        let label = svg.lines().find(|line| line.ends_with(">100000</text>")).unwrap();
        let x: f64 = label.split('"').nth(1).unwrap().parse().unwrap();
        assert!(x + 3.0 * DIGIT_WIDTH <= WIDTH && x > RIGHT - 5.0, "{label}");
    }

    #[test]
    fn twelve_lines_look_different() {
        let mut styles: Vec<_> = (0..DISTINCT).map(style).collect();
        styles.sort_unstable();
        styles.dedup();
        assert_eq!(styles.len(), DISTINCT);
    }
}
