//! The lines of a text that say something.

/// A line that is not blank, with its number from 1.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Line<'a> {
    pub(crate) number: usize,
    /// Without blanks at its ends; a tab at its start is kept, since it ends an empty cell.
    pub(crate) text: &'a str,
}

impl<'a> Line<'a> {
    /// What follows the mark of a comment, if it is one.
    pub(crate) fn comment(self) -> Option<&'a str> {
        let text = self.text.trim_start();
        let comment = text.strip_prefix('#').or_else(|| text.strip_prefix("//"));
        comment.map(|comment| comment.trim_matches(['#', '/']).trim())
    }
}

/// The lines that are not blank, comments among them. They end with LF, CR LF or CR.
pub(crate) fn lines(text: &str) -> impl Iterator<Item = Line<'_>> {
    let numbered = Ends { rest: Some(text) }.enumerate();
    numbered.filter(|(_, text)| !text.trim().is_empty()).map(|(index, text)| Line {
        number: index + 1,
        text: text.trim_end().trim_start_matches(|c: char| c != '\t' && c.is_whitespace()),
    })
}

/// The lines that are neither blank nor comments.
pub(crate) fn content(text: &str) -> impl Iterator<Item = Line<'_>> {
    lines(text).filter(|line| line.comment().is_none())
}

/// What is left of a text after some of its lines.
struct Ends<'a> {
    rest: Option<&'a str>,
}

impl<'a> Iterator for Ends<'a> {
    type Item = &'a str;

    fn next(&mut self) -> Option<&'a str> {
        let rest = self.rest?;
        let Some(end) = rest.find(['\n', '\r']) else {
            self.rest = None;
            return Some(rest);
        };
        let (line, after) = rest.split_at(end);
        self.rest = after.strip_prefix("\r\n").or_else(|| after.get(1..));
        Some(line)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_end_as_any_system_ends_them() {
        let told = |text| lines(text).map(|line| (line.number, line.text)).collect::<Vec<_>>();
        assert_eq!(told("a\r\nb\rc\n\r\n d \u{a0}"), [(1, "a"), (2, "b"), (3, "c"), (5, "d")]);
        assert_eq!(told("\ta\t\r"), [(1, "\ta")]);
        assert_eq!(told(" \n\r"), []);
    }

    #[test]
    fn comments_say_nothing() {
        let text = "# a\n//b\n1\n  # c";
        assert_eq!(content(text).map(|line| line.number).collect::<Vec<_>>(), [3]);
        assert_eq!(lines(text).filter_map(Line::comment).collect::<Vec<_>>(), ["a", "b", "c"]);
    }
}
