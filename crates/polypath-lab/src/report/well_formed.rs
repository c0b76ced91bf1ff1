//! Whether a page is well-formed, for the tests of pages.

/// Elements that have no end tag.
const VOID: [&str; 1] = ["meta"];
const ENTITIES: [&str; 5] = ["amp;", "lt;", "gt;", "quot;", "#39;"];

/// Fails unless tags are closed in the order in which they were opened, every attribute is quoted,
/// and every `&` begins an entity.
pub(super) fn assert_well_formed(page: &str) {
    let mut rest = page.strip_prefix("<!DOCTYPE html>").expect("no document type");
    let mut open = Vec::new();
    while let Some(start) = rest.find('<') {
        assert_text(&rest[..start]);
        let end = start + rest[start..].find('>').expect("a tag without end");
        let tag = &rest[start + 1..end];
        rest = &rest[end + 1..];
        match tag.strip_prefix('/') {
            Some(name) => assert_eq!(open.pop(), Some(name), "</{name}>"),
            None => {
                let (name, attributes) = tag.split_once(' ').unwrap_or((tag, ""));
                assert!(name.chars().all(char::is_alphanumeric), "<{tag}>");
                assert_attributes(attributes.trim_end_matches('/'), tag);
                if !VOID.contains(&name) && !tag.ends_with('/') {
                    open.push(name);
                }
            }
        }
    }
    assert_text(rest);
    assert_eq!(open, Vec::<&str>::new(), "open at the end");
}

fn assert_text(text: &str) {
    assert!(!text.contains('>'), "{text}");
    for after in text.split('&').skip(1) {
        assert!(ENTITIES.iter().any(|entity| after.starts_with(entity)), "&{after}");
    }
}

fn assert_attributes(attributes: &str, tag: &str) {
    let mut rest = attributes.trim_start();
    while !rest.is_empty() {
        let (name, value) = rest.split_once("=\"").unwrap_or_else(|| panic!("<{tag}>"));
        assert!(name.chars().all(|c| c.is_alphanumeric() || c == '-'), "{name} in <{tag}>");
        let (value, more) = value.split_once('"').unwrap_or_else(|| panic!("<{tag}>"));
        assert_text(value);
        rest = more.trim_start();
    }
}

#[test]
fn what_is_not_well_formed_is_found() {
    let is_found = |body: &str| {
        let page = format!("<!DOCTYPE html><p>{body}</p>");
        std::panic::catch_unwind(|| assert_well_formed(&page)).is_err()
    };
    assert!(!is_found("a &amp; b <b x=\"1\" y-z=\"&lt;\">c</b><path d=\"M0 0\"/>"));
    for bad in ["<b>", "</b>", "<b></p>", "a & b", "a > b", "<b x=1></b>", "<b x=\"1></b>"] {
        assert!(is_found(bad), "{bad}");
    }
}
