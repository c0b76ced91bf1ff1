//! What pages and comments refer to exists: links, pages, sections of the protocol.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Component, Path, PathBuf};

fn root() -> PathBuf {
    normal(&Path::new(env!("CARGO_MANIFEST_DIR")).join("../.."))
}

/// The path without `.` and `..`.
fn normal(path: &Path) -> PathBuf {
    let mut out = PathBuf::new();
    for part in path.components() {
        match part {
            Component::CurDir => {}
            Component::ParentDir => _ = out.pop(),
            other => out.push(other),
        }
    }
    out
}

/// The files below `folder` with one of these extensions, without what is hidden or built.
fn files(folder: &Path, extensions: &[&str], found: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        let name = path.file_name().unwrap().to_string_lossy().into_owned();
        if name.starts_with('.') || name == "target" || path.is_symlink() {
            continue;
        }
        if path.is_dir() {
            files(&path, extensions, found);
        } else if extensions.iter().any(|end| path.extension().is_some_and(|e| e == *end)) {
            found.push(path);
        }
    }
}

pub(crate) fn texts(extensions: &[&str]) -> BTreeMap<PathBuf, String> {
    let mut found = Vec::new();
    files(&root(), extensions, &mut found);
    assert!(found.len() > 20, "{found:?}");
    found.into_iter().map(|path| (path.clone(), fs::read_to_string(path).unwrap())).collect()
}

/// The comments of a Rust file, as one text: a citation may go on in the next line.
fn comments(source: &str) -> String {
    let lines = source.lines().filter_map(|line| {
        let comment = match line.trim_start().strip_prefix("//") {
            Some(comment) => comment,
            None => line.split_once(" // ")?.1,
        };
        Some(comment.trim_start_matches(['/', '!']))
    });
    lines.collect::<Vec<_>>().join("\n")
}

/// The lines of a page that are not in a fenced block.
fn prose(page: &str) -> Vec<&str> {
    let mut fenced = false;
    let outside = |line: &&str| {
        let fence = line.trim_start().starts_with("```");
        fenced ^= fence;
        !fenced && !fence
    };
    page.lines().filter(outside).collect()
}

/// The text without code spans, which end with as many backticks as they begin with.
fn without_code(text: &str) -> String {
    let mut out = String::new();
    let mut rest = text;
    while let Some(at) = rest.find('`') {
        let (before, from) = rest.split_at(at);
        out.push_str(before);
        let ticks = from.len() - from.trim_start_matches('`').len();
        let (open, body) = from.split_at(ticks);
        let paragraph = body.split("\n\n").next().unwrap();
        rest = match paragraph.find(open) {
            Some(end) => &body[end + ticks..],
            None => body,
        };
    }
    out + rest
}

/// The targets of the links of a page.
fn links(page: &str) -> Vec<String> {
    let text = without_code(&prose(page).join("\n"));
    let target = |part: &str| part.split(')').next()?.split_whitespace().next().map(str::to_owned);
    text.split("](").skip(1).filter_map(target).collect()
}

/// A heading as GitHub makes an anchor of it.
fn slug(heading: &str) -> String {
    let mut text = String::new();
    for (index, part) in heading.split("](").enumerate() {
        text.push_str(if index == 0 { part } else { part.split_once(')').map_or("", |p| p.1) });
    }
    let kept = text.trim().to_lowercase().chars().collect::<Vec<_>>().into_iter();
    let kept = kept.filter(|c| c.is_alphanumeric() || matches!(c, ' ' | '-' | '_'));
    kept.map(|c| if c == ' ' { '-' } else { c }).collect()
}

/// The anchors of a page; the second heading of a name ends with `-1`, and so on.
fn anchors(page: &str) -> BTreeSet<String> {
    let mut seen = BTreeMap::<String, usize>::new();
    let headings = prose(page).into_iter().filter(|line| line.starts_with('#'));
    let anchor = |line: &str| {
        let slug = slug(line.trim_start_matches('#'));
        let count = seen.entry(slug.clone()).or_default();
        *count += 1;
        if *count == 1 { slug } else { format!("{slug}-{}", *count - 1) }
    };
    headings.map(anchor).collect()
}

#[test]
fn every_relative_link_leads_somewhere() {
    let pages = texts(&["md"]);
    let mut broken = Vec::new();
    let mut count = 0;
    for (page, text) in &pages {
        for link in links(text).into_iter().filter(|link| !link.contains(':')) {
            count += 1;
            let (file, anchor) = link.split_once('#').unwrap_or((&link, ""));
            let target = match file {
                "" => page.clone(),
                file => normal(&page.parent().unwrap().join(file)),
            };
            let anchored = |text: &String| anchor.is_empty() || anchors(text).contains(anchor);
            if !target.exists() || !pages.get(&target).is_none_or(anchored) {
                broken.push(format!("{}: {link}", page.display()));
            }
        }
    }
    assert!(broken.is_empty(), "{broken:#?}");
    assert!(count > 300, "{count}");
}

#[test]
fn every_page_that_a_comment_names_exists() {
    let mut missing = Vec::new();
    let mut count = 0;
    for (path, source) in texts(&["rs"]) {
        let comments = comments(&source);
        for (at, _) in comments.match_indices("docs/") {
            let is_part = |c: char| c.is_ascii_alphanumeric() || matches!(c, '/' | '.' | '_' | '-');
            let name = comments[at..].split(|c| !is_part(c)).next().unwrap();
            let name = name.trim_end_matches('.');
            if name.ends_with(".md") {
                count += 1;
                if !root().join(name).exists() {
                    missing.push(format!("{}: {name}", path.display()));
                }
            }
        }
    }
    assert!(missing.is_empty(), "{missing:#?}");
    assert!(count > 50, "{count}");
}

/// The words of a text without the punctuation around them.
fn words(text: &str) -> Vec<&str> {
    let edge = |c: char| !c.is_alphanumeric();
    text.split_whitespace().map(|word| word.trim_matches(edge)).collect()
}

/// Whether this is a number of a section: digits with dots between them.
fn is_section(word: &str) -> bool {
    word.split('.').all(|part| !part.is_empty() && part.bytes().all(|b| b.is_ascii_digit()))
}

/// The numbers of sections that follow words for which `names` holds, and whether the word
/// "section" is between the two.
fn sections(text: &str, names: impl Fn(&str) -> bool) -> Vec<(&str, bool)> {
    let words = words(text);
    let cited = words.iter().enumerate().filter(|(_, word)| names(word)).filter_map(|(at, _)| {
        let said = words.get(at + 1).is_some_and(|word| matches!(*word, "section" | "sections"));
        let number = words.get(at + 1 + usize::from(said))?;
        is_section(number).then_some((*number, said))
    });
    cited.collect()
}

#[test]
fn nothing_cites_a_reference_by_number_that_is_not_here() {
    let mut cited = Vec::new();
    for (path, text) in texts(&["rs", "md", "toml", "py", "txt"]) {
        let text = if path.extension().is_some_and(|e| e == "rs") { comments(&text) } else { text };
        let found = sections(&text, |word| word.eq_ignore_ascii_case("algorithms"));
        for (number, _) in found.iter().filter(|(number, said)| *said || number.contains('.')) {
            cited.push(format!("{}: {number}", path.display()));
        }
    }
    assert!(cited.is_empty(), "{cited:#?}");
}

/// A capital begins a sentence about another protocol.
fn is_protocol(word: &str) -> bool {
    word == "protocol" || word.split('#').next().unwrap().ends_with("protocol.md")
}

#[test]
fn every_section_of_the_protocol_that_is_cited_exists() {
    let protocol = fs::read_to_string(root().join("docs/protocol.md")).unwrap();
    let headings = prose(&protocol).into_iter().filter(|line| line.starts_with("##"));
    let known: BTreeSet<_> = headings.filter_map(|line| words(line).get(1).copied()).collect();
    assert!(known.contains("2.4") && known.contains("11"), "{known:?}");
    let mut unknown = Vec::new();
    let mut count = 0;
    for (path, text) in texts(&["rs", "md"]) {
        let text = if path.extension().is_some_and(|e| e == "rs") { comments(&text) } else { text };
        for (number, _) in sections(&text, is_protocol) {
            count += 1;
            if !known.contains(number) {
                unknown.push(format!("{}: {number}", path.display()));
            }
        }
    }
    assert!(unknown.is_empty(), "{unknown:#?}");
    assert!(count > 5, "{count}");
}

/// Comments wrap at 100 columns; rows of tables and links cannot.
#[test]
fn comments_wrap() {
    let long = |line: &&str| {
        let comment = line.trim_start();
        let wraps = !comment.contains("| ") && !comment.contains("](");
        comment.starts_with("//") && wraps && line.chars().count() > 100
    };
    for (file, text) in texts(&["rs"]) {
        let lines: Vec<_> = text.lines().filter(long).collect();
        assert!(lines.is_empty(), "{}: {lines:#?}", file.display());
    }
}

/// An example in the documentation of a crate whose examples are not run would not be tested.
#[test]
fn crates_without_tests_of_documentation_have_no_examples() {
    let texts = texts(&["rs", "toml"]);
    let off = texts.iter().filter(|(file, text)| {
        file.ends_with("Cargo.toml") && text.lines().any(|line| line == "doctest = false")
    });
    let off: Vec<_> = off.map(|(file, _)| file.parent().unwrap().join("src")).collect();
    assert!(off.len() >= 10, "{off:?}");
    for (file, text) in texts.iter().filter(|(file, _)| off.iter().any(|src| file.starts_with(src)))
    {
        let fences = text.lines().filter_map(|line| {
            let comment = line.trim_start().strip_prefix("//")?;
            comment.trim_start_matches(['/', '!']).trim().strip_prefix("```")
        });
        for opening in fences.step_by(2) {
            let is_rust = ["", "rust", "no_run", "should_panic"].contains(&opening);
            assert!(!is_rust, "{}: an example, and doctest = false", file.display());
        }
    }
}
