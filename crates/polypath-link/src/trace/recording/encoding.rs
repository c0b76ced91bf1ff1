//! From bytes to text.

use std::borrow::Cow;

/// Why bytes are no text that a trace could be.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum EncodingError {
    /// Another kind of file, as its first bytes tell.
    #[error("this is {what}, not text; {instead}")]
    Foreign {
        /// What it is.
        what: &'static str,
        /// What would be right.
        instead: &'static str,
    },
    /// UTF-32.
    #[error("the text is UTF-32; save it as UTF-8 or UTF-16")]
    Utf32,
    /// UTF-16 with an odd number of bytes, or half a character.
    #[error("line {line}: the text is UTF-16 and broken here; save it as UTF-8")]
    BrokenUtf16 {
        /// The line, from 1.
        line: usize,
    },
    /// A character that no text has.
    #[error("line {line}: the byte {byte:#04x} is no part of a text; a trace is a text file")]
    Control {
        /// The line, from 1.
        line: usize,
        /// The byte.
        byte: u8,
    },
}

const UNPACK: &str = "unpack it";
const AS_CSV: &str = "write its times and rates as CSV";

/// First bytes, what has them, and what would be right.
const FOREIGN: [(&[u8], &str, &str); 15] = [
    (b"PK\x03\x04", "a spreadsheet (.xlsx, .ods) or ZIP archive", "save the sheet as CSV"),
    (b"\xd0\xcf\x11\xe0", "a spreadsheet (.xls)", "save the sheet as CSV"),
    (b"\x1f\x8b", "compressed by gzip", UNPACK),
    (b"BZh", "compressed by bzip2", UNPACK),
    (b"\xfd7zXZ", "compressed by xz", UNPACK),
    (b"\x28\xb5\x2f\xfd", "compressed by zstd", UNPACK),
    (b"PAR1", "a Parquet file", AS_CSV),
    (b"SQLite format 3", "an SQLite database", AS_CSV),
    (b"\x89HDF", "an HDF5 file", AS_CSV),
    (b"\x0a\x0d\x0d\x0a", "a capture of packets (pcapng)", AS_CSV),
    (b"\xd4\xc3\xb2\xa1", "a capture of packets (pcap)", AS_CSV),
    (b"\xa1\xb2\xc3\xd4", "a capture of packets (pcap)", AS_CSV),
    (b"%PDF", "a PDF", AS_CSV),
    (b"version https://git-lfs", "a pointer of Git LFS", "fetch the file with `git lfs pull`"),
    (b"\x80\x04\x95", "a pickle of Python", AS_CSV),
];

/// The text of a file: UTF-8 or UTF-16, with or without a byte order mark; otherwise each byte is
/// a character, as in Windows-1252 and Latin-1, which have the same digits and separators.
pub(super) fn decode(bytes: &[u8]) -> Result<Cow<'_, str>, EncodingError> {
    if let Some(&(_, what, instead)) = FOREIGN.iter().find(|(magic, ..)| bytes.starts_with(magic)) {
        return Err(EncodingError::Foreign { what, instead });
    }
    let text = match bytes {
        [0xff, 0xfe, 0, 0, ..] | [0, 0, 0xfe, 0xff, ..] => return Err(EncodingError::Utf32),
        [0xff, 0xfe, rest @ ..] => utf16(rest, u16::from_le_bytes)?.into(),
        [0xfe, 0xff, rest @ ..] => utf16(rest, u16::from_be_bytes)?.into(),
        // Without a mark: the first character is from ASCII.
        [1..=0x7f, 0, 1..=0xff, ..] => utf16(bytes, u16::from_le_bytes)?.into(),
        [0, 1..=0x7f, ..] => utf16(bytes, u16::from_be_bytes)?.into(),
        _ => single_bytes(bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes)),
    };
    check(&text)?;
    Ok(text)
}

fn single_bytes(bytes: &[u8]) -> Cow<'_, str> {
    match str::from_utf8(bytes) {
        Ok(text) => text.into(),
        Err(_) => bytes.iter().map(|&byte| char::from(byte)).collect::<String>().into(),
    }
}

fn utf16(bytes: &[u8], unit: fn([u8; 2]) -> u16) -> Result<String, EncodingError> {
    let (pairs, odd) = bytes.as_chunks::<2>();
    let mut text = String::with_capacity(pairs.len());
    for decoded in char::decode_utf16(pairs.iter().map(|&pair| unit(pair))) {
        let broken = |_| EncodingError::BrokenUtf16 { line: line_after(&text) };
        text.push(decoded.map_err(broken)?);
    }
    match odd {
        [] => Ok(text),
        _ => Err(EncodingError::BrokenUtf16 { line: line_after(&text) }),
    }
}

/// Refuses control characters but those of lines, and the end mark of DOS at the end.
fn check(text: &str) -> Result<(), EncodingError> {
    let is_wrong = |c: char| c.is_ascii_control() && !matches!(c, '\t' | '\n' | '\r' | '\x0c');
    let body = text.strip_suffix('\x1a').unwrap_or(text);
    match body.find(is_wrong) {
        None => Ok(()),
        Some(at) => {
            let (line, byte) = (line_after(&body[..at]), body.as_bytes()[at]);
            Err(EncodingError::Control { line, byte })
        }
    }
}

/// The line that goes on after this text, from 1.
fn line_after(text: &str) -> usize {
    let ends = text.matches("\r\n").count();
    1 + text.matches(['\r', '\n']).count() - ends
}

#[cfg(test)]
mod tests {
    use super::*;

    fn utf16(text: &str, bytes: fn(u16) -> [u8; 2]) -> Vec<u8> {
        text.encode_utf16().flat_map(bytes).collect()
    }

    #[test]
    fn text_is_read_in_any_common_encoding() {
        let text = "µs;1\r\n";
        let marked = format!("\u{feff}{text}");
        let ascii = "1,2\n";
        for (bytes, expected) in [
            (text.as_bytes().to_vec(), text),
            (marked.as_bytes().to_vec(), text),
            (utf16(&marked, u16::to_le_bytes), text),
            (utf16(&marked, u16::to_be_bytes), text),
            (utf16(ascii, u16::to_le_bytes), ascii),
            (utf16(ascii, u16::to_be_bytes), ascii),
            (b"\xb5s;1\r\n".to_vec(), text),
            (b"1\n\x1a".to_vec(), "1\n\x1a"),
            (Vec::new(), ""),
        ] {
            assert_eq!(decode(&bytes).as_deref(), Ok(expected), "{bytes:x?}");
        }
    }

    #[test]
    fn what_is_no_text_is_told() {
        let told = |bytes: &[u8]| decode(bytes).unwrap_err();
        assert_eq!(told(b"\xff\xfe\0\0"), EncodingError::Utf32);
        assert_eq!(told(b"\xff\xfe1\0\n\0\x00\xd8"), EncodingError::BrokenUtf16 { line: 2 });
        assert_eq!(told(b"\xff\xfe1\0\n"), EncodingError::BrokenUtf16 { line: 1 });
        assert_eq!(told(b"1\r\n2\r\x003"), EncodingError::Control { line: 3, byte: 0 });
        for (magic, ..) in FOREIGN {
            assert!(matches!(told(magic), EncodingError::Foreign { .. }), "{magic:x?}");
        }
    }
}
