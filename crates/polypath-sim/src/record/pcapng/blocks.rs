//! The pcapng format (draft-ietf-opsawg-pcapng): sections, interfaces and packets, little-endian.

use polypath_units::Timestamp;
use std::fs::{File, OpenOptions};
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};

const SECTION_HEADER: u32 = 0x0a0d_0d0a;
const BYTE_ORDER: u32 = 0x1a2b_3c4d;
const INTERFACE: u32 = 1;
const ENHANCED_PACKET: u32 = 6;
/// Packets begin with an IPv4 or IPv6 header.
const LINKTYPE_RAW: u16 = 101;
const IF_NAME: u16 = 2;
const IF_TSRESOL: u16 = 9;
const SHB_USERAPPL: u16 = 4;
const EPB_FLAGS: u16 = 2;
/// Timestamps count nanoseconds: 10^-9 s.
const NANOSECONDS: u8 = 9;
/// Bytes that wait in memory at most before they are written.
const BUFFER: usize = 64 << 10;

/// Which way a packet passes an interface: the value of `epb_flags`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Direction {
    Inbound = 1,
    Outbound = 2,
}

/// A capture file that grows at its end. It is open only while it is written to, so that thousands
/// need no file descriptors.
#[derive(Debug)]
pub(super) struct CaptureFile {
    path: PathBuf,
    buffer: Vec<u8>,
    interfaces: u32,
    snap: u32,
}

impl CaptureFile {
    /// A new file in place of one that may be there. `snap` is how many bytes of each packet are
    /// kept; 0: all.
    pub(super) fn create(path: PathBuf, snap: u32) -> io::Result<Self> {
        File::create(&path)?;
        let mut file = Self { path, buffer: Vec::new(), interfaces: 0, snap };
        file.block(SECTION_HEADER, |body| {
            body.extend(BYTE_ORDER.to_le_bytes());
            body.extend([1_u16, 0].map(u16::to_le_bytes).as_flattened());
            // The section's length is not known.
            body.extend(u64::MAX.to_le_bytes());
            option(body, SHB_USERAPPL, b"polypath");
            body.extend([0; 4]);
        });
        Ok(file)
    }

    /// Where it is.
    pub(super) fn path(&self) -> &Path {
        &self.path
    }

    /// How many interfaces it describes.
    pub(super) const fn interfaces(&self) -> u32 {
        self.interfaces
    }

    /// Describes the next interface; they are numbered from 0.
    pub(super) fn add_interface(&mut self, name: &str) {
        let snap = self.snap;
        self.interfaces += 1;
        self.block(INTERFACE, |body| {
            body.extend([LINKTYPE_RAW, 0].map(u16::to_le_bytes).as_flattened());
            body.extend(snap.to_le_bytes());
            option(body, IF_NAME, name.as_bytes());
            option(body, IF_TSRESOL, &[NANOSECONDS]);
            body.extend([0; 4]);
        });
    }

    /// Adds a packet that passes an interface: `bytes`, then zeros up to `len` in all.
    pub(super) fn add_packet(
        &mut self,
        at: Timestamp,
        interface: u32,
        direction: Direction,
        bytes: &[u8],
        len: usize,
    ) -> io::Result<()> {
        let kept = if self.snap == 0 { len } else { len.min(self.snap as usize) };
        let time = at.as_nanos();
        self.block(ENHANCED_PACKET, |body| {
            let fields = [interface, (time >> 32) as u32, time as u32, kept as u32, len as u32];
            body.extend(fields.map(u32::to_le_bytes).as_flattened());
            body.extend(&bytes[..bytes.len().min(kept)]);
            body.resize(body.len() + kept.saturating_sub(bytes.len()), 0);
            pad(body, kept);
            option(body, EPB_FLAGS, &(direction as u32).to_le_bytes());
            body.extend([0; 4]);
        });
        if self.buffer.len() < BUFFER { Ok(()) } else { self.flush() }
    }

    /// Writes what waits in memory.
    pub(super) fn flush(&mut self) -> io::Result<()> {
        OpenOptions::new().append(true).open(&self.path)?.write_all(&self.buffer)?;
        self.buffer.clear();
        Ok(())
    }

    /// Adds a block; `body` comes without the lengths before and behind it.
    fn block(&mut self, kind: u32, body: impl FnOnce(&mut Vec<u8>)) {
        let start = self.buffer.len();
        self.buffer.extend([kind, 0].map(u32::to_le_bytes).as_flattened());
        body(&mut self.buffer);
        let len = (self.buffer.len() - start + 4) as u32;
        self.buffer[start + 4..start + 8].copy_from_slice(&len.to_le_bytes());
        self.buffer.extend(len.to_le_bytes());
    }
}

fn option(body: &mut Vec<u8>, code: u16, value: &[u8]) {
    // Names of paths are far shorter; a longer one is cut.
    let value = &value[..value.len().min(u16::MAX.into())];
    body.extend(code.to_le_bytes());
    body.extend((value.len() as u16).to_le_bytes());
    body.extend(value);
    pad(body, value.len());
}

/// Fills up to a multiple of four after `len` bytes.
fn pad(body: &mut Vec<u8>, len: usize) {
    body.resize(body.len() + len.next_multiple_of(4) - len, 0);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn blocks_are_those_of_the_specification() {
        let directory = tempfile::tempdir().unwrap();
        let mut file = CaptureFile::create(directory.path().join("a.pcapng"), 6).unwrap();
        file.add_interface("lte");
        let at = Timestamp::from_nanos((7 << 32) + 9);
        file.add_packet(at, 0, Direction::Outbound, &[0x45, 0, 0, 40], 40).unwrap();
        file.flush().unwrap();
        let words: &[u8] = &[
            // Section header, 44 bytes: byte order, version 1.0, no length, "polypath".
            0x0a, 0x0d, 0x0d, 0x0a, 44, 0, 0, 0, 0x4d, 0x3c, 0x2b, 0x1a, 1, 0, 0, 0, 0xff, 0xff,
            0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 4, 0, 8, 0, b'p', b'o', b'l', b'y', b'p', b'a',
            b't', b'h', 0, 0, 0, 0, 44, 0, 0, 0,
            // Interface, 40 bytes: raw IP, 6 bytes of each packet, "lte", nanoseconds.
            1, 0, 0, 0, 40, 0, 0, 0, 101, 0, 0, 0, 6, 0, 0, 0, 2, 0, 3, 0, b'l', b't', b'e', 0, 9,
            0, 1, 0, 9, 0, 0, 0, 0, 0, 0, 0, 40, 0, 0, 0,
            // Packet, 52 bytes: interface 0, 6 of 40 bytes, outbound.
            6, 0, 0, 0, 52, 0, 0, 0, 0, 0, 0, 0, 7, 0, 0, 0, 9, 0, 0, 0, 6, 0, 0, 0, 40, 0, 0, 0,
            0x45, 0, 0, 40, 0, 0, 0, 0, 2, 0, 4, 0, 2, 0, 0, 0, 0, 0, 0, 0, 52, 0, 0, 0,
        ];
        assert_eq!(std::fs::read(file.path()).unwrap(), words);
    }
}
