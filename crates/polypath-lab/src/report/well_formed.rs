//! Whether a page is well-formed, for the tests of pages.

/// Elements that have no end tag.
const VOID: [&str; 1] = ["meta"];
const ENTITIES: [&str; 5] = ["amp;", "lt;", "gt;", "quot;", "#39;"];

/// Fails unless tags are closed in the order in which they were opened, every attribute is quoted,
/// and every `&` begins an entity.
pub(super) fn assert_well_formed(page: &str) {
    assert_eq!(check(page), Ok(()));
}

fn check(page: &str) -> Result<(), String> {
    let mut rest = page.strip_prefix("<!DOCTYPE html>").ok_or("no document type")?;
    let mut open = Vec::new();
    while let Some(start) = rest.find('<') {
        check_text(&rest[..start])?;
        let end = start + rest[start..].find('>').ok_or("a tag without end")?;
        let tag = &rest[start + 1..end];
        rest = &rest[end + 1..];
        match tag.strip_prefix('/') {
            Some(name) => require(open.pop() == Some(name), || format!("</{name}>"))?,
            None => {
                let (name, attributes) = tag.split_once(' ').unwrap_or((tag, ""));
                require(name.chars().all(char::is_alphanumeric), || format!("<{tag}>"))?;
                check_attributes(attributes.trim_end_matches('/'), tag)?;
                if !VOID.contains(&name) && !tag.ends_with('/') {
                    open.push(name);
                }
            }
        }
    }
    check_text(rest)?;
    require(open.is_empty(), || format!("open at the end: {open:?}"))
}

fn require(holds: bool, otherwise: impl FnOnce() -> String) -> Result<(), String> {
    if holds { Ok(()) } else { Err(otherwise()) }
}

fn check_text(text: &str) -> Result<(), String> {
    require(!text.contains('>'), || format!("'>' in {text}"))?;
    text.split('&').skip(1).try_for_each(|after| {
        require(ENTITIES.iter().any(|entity| after.starts_with(entity)), || format!("&{after}"))
    })
}

fn check_attributes(attributes: &str, tag: &str) -> Result<(), String> {
    let mut rest = attributes.trim_start();
    while !rest.is_empty() {
        let (name, value) = rest.split_once("=\"").ok_or_else(|| format!("<{tag}>"))?;
        let is_name = name.chars().all(|c| c.is_alphanumeric() || c == '-');
        require(is_name, || format!("{name} in <{tag}>"))?;
        let (value, more) = value.split_once('"').ok_or_else(|| format!("<{tag}>"))?;
        check_text(value)?;
        rest = more.trim_start();
    }
    Ok(())
}

#[test]
fn what_is_not_well_formed_is_found() {
    let checked = |body: &str| check(&format!("<!DOCTYPE html><p>{body}</p>"));
    assert_eq!(checked("a &amp; b <b x=\"1\" y-z=\"&lt;\">c</b><path d=\"M0 0\"/>"), Ok(()));
    for bad in ["<b>", "</b>", "<b></p>", "a & b", "a > b", "<b x=1></b>", "<b x=\"1></b>"] {
        assert!(checked(bad).is_err(), "{bad}");
    }
}
