//! Throughput over time as SVG.
//!
//! Colours are those of Okabe and Ito (2008), which people with any kind of colour vision tell
//! apart; each line has its own dashes too, so that the chart survives a black-and-white printer.

use core::fmt::Write;

use super::html::escape;
use super::{PathChange, PathEvent, PathSeries, RunSeries, Sample};

const WIDTH: f64 = 860.0;
const HEIGHT: f64 = 380.0;
const LEFT: f64 = 70.0;
const RIGHT: f64 = 840.0;
const TOP: f64 = 70.0;
const BOTTOM: f64 = 325.0;

/// Okabe and Ito's palette without black, which is the text, and yellow, which white swallows.
const COLOURS: [&str; 6] = ["#0072B2", "#D55E00", "#009E73", "#CC79A7", "#56B4E9", "#E69F00"];
const DASHES: [&str; 4] = ["none", "8 4", "2 3", "10 3 2 3"];

/// From data to the plane of the drawing.
struct Scale {
    t_max: f64,
    mbit_s_max: f64,
}

impl Scale {
    fn of(run: &RunSeries) -> Self {
        let samples = || run.paths.iter().flat_map(|path| &path.samples);
        let events = run.events.iter().map(|event| event.t);
        let t_max = samples().map(|sample| sample.t).chain(events).fold(0.0, f64::max);
        let mbit_s_max = samples().map(|sample| sample.mbit_s).fold(0.0, f64::max);
        let at_least_one = |x: f64| if x > 0.0 { x } else { 1.0 };
        let (t_max, mbit_s_max) = (at_least_one(t_max), at_least_one(mbit_s_max));
        Self { t_max, mbit_s_max: (mbit_s_max / step(mbit_s_max)).ceil() * step(mbit_s_max) }
    }

    fn x(&self, t: f64) -> f64 {
        LEFT + (RIGHT - LEFT) * (t / self.t_max).clamp(0.0, 1.0)
    }

    fn y(&self, mbit_s: f64) -> f64 {
        BOTTOM - (BOTTOM - TOP) * (mbit_s / self.mbit_s_max).clamp(0.0, 1.0)
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

/// The chart of one run. Writing to a `String` cannot fail.
pub(super) fn render(run: &RunSeries) -> String {
    let scale = Scale::of(run);
    let mut svg = String::new();
    let name = escape(&run.run);
    let _ = writeln!(
        svg,
        "<svg viewBox=\"0 0 {WIDTH} {HEIGHT}\" xmlns=\"http://www.w3.org/2000/svg\" role=\"img\" \
         font-family=\"system-ui,sans-serif\" font-size=\"13\" fill=\"#1a1a1a\">\n\
         <title>Throughput of each path over time: {name}</title>"
    );
    axes(&mut svg, &scale);
    run.events.iter().for_each(|event| mark(&mut svg, &scale, event));
    for (index, path) in run.paths.iter().enumerate() {
        line(&mut svg, &scale, index, path);
        legend(&mut svg, index, &path.name);
    }
    svg.push_str("</svg>\n");
    svg
}

fn axes(svg: &mut String, scale: &Scale) {
    for tick in ticks(scale.mbit_s_max) {
        let (y, below) = (scale.y(tick), scale.y(tick) + 4.0);
        let (end, label) = (LEFT - 8.0, number(tick));
        let _ = writeln!(
            svg,
            "<path d=\"M{LEFT} {y:.1}H{RIGHT}\" stroke=\"#ddd\"/>\
             <text x=\"{end}\" y=\"{below:.1}\" text-anchor=\"end\">{label}</text>"
        );
    }
    for tick in ticks(scale.t_max) {
        let (x, y, label) = (scale.x(tick), BOTTOM + 18.0, number(tick));
        let _ = writeln!(svg, "<text x=\"{x:.1}\" y=\"{y}\" text-anchor=\"middle\">{label}</text>");
    }
    let (x, y) = ((LEFT + RIGHT) / 2.0, (TOP + BOTTOM) / 2.0);
    let _ = writeln!(
        svg,
        "<path d=\"M{LEFT} {TOP}V{BOTTOM}H{RIGHT}\" fill=\"none\" stroke=\"#1a1a1a\"/>\n\
         <text x=\"{x}\" y=\"{}\" text-anchor=\"middle\">time (s)</text>\n\
         <text x=\"18\" y=\"{y}\" text-anchor=\"middle\" transform=\"rotate(-90 18 {y})\">\
         throughput (Mbit/s)</text>",
        HEIGHT - 12.0
    );
}

/// A tick without the digits that floating point adds.
fn number(tick: f64) -> String {
    let text = format!("{tick:.6}");
    text.trim_end_matches('0').trim_end_matches('.').to_owned()
}

/// A line at the time of the event. Failures and returns are written in rows of their own, each on
/// the side with more room.
fn mark(svg: &mut String, scale: &Scale, event: &PathEvent) {
    let x = scale.x(event.t);
    let (verb, y) = match event.what {
        PathChange::Failed => ("fails", TOP - 6.0),
        PathChange::Returned => ("returns", TOP - 22.0),
    };
    let anchor = if x < (LEFT + RIGHT) / 2.0 { "start" } else { "end" };
    let _ = writeln!(
        svg,
        "<path d=\"M{x:.1} {y}V{BOTTOM}\" stroke=\"#1a1a1a\" stroke-dasharray=\"4 3\"/>\
         <text x=\"{x:.1}\" y=\"{y}\" dx=\"{}\" text-anchor=\"{anchor}\">{} {verb} at {} s</text>",
        if anchor == "start" { 4 } else { -4 },
        escape(&event.path),
        number(event.t)
    );
}

fn line(svg: &mut String, scale: &Scale, index: usize, path: &PathSeries) {
    let mut points = String::new();
    for &Sample { t, mbit_s } in &path.samples {
        let _ = write!(points, "{:.1},{:.1} ", scale.x(t), scale.y(mbit_s));
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
    // Four to a row, two rows; more paths than that share the last row.
    let x = LEFT + (index % 4) as f64 * 190.0;
    let y = 14.0 + (index / 4) as f64 * 18.0;
    let _ = writeln!(
        svg,
        "<path d=\"M{x} {y}h34\" stroke=\"{colour}\" stroke-width=\"2\" \
         stroke-dasharray=\"{dash}\"/><text x=\"{}\" y=\"{}\">{}</text>",
        x + 42.0,
        y + 4.0,
        escape(name)
    );
}

/// Colour and dashes: different for the first twelve paths.
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
    fn twelve_paths_look_different() {
        let mut styles: Vec<_> = (0..12).map(style).collect();
        styles.sort_unstable();
        styles.dedup();
        assert_eq!(styles.len(), 12);
    }
}
