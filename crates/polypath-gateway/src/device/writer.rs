//! Writing packets to a TUN device.

use std::io;
use std::sync::Arc;

use tun_rs::{GROTable, VIRTIO_NET_HDR_LEN, VirtioNetHdr, gso_split};

use super::DeviceError;
use super::create::Opened;
use super::outgoing::{Outgoing, Piece};

/// Packets among which those of a flow are coalesced. 64 KiB are 44 packets of 1500 bytes.
const BATCH: usize = 64;

/// The direction to the kernel.
pub struct TunWriter {
    opened: Arc<Opened>,
    packets: Vec<Outgoing>,
    table: GROTable,
    coalesces: bool,
    refused: u64,
}

impl std::fmt::Debug for TunWriter {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("TunWriter")
            .field("opened", &self.opened)
            .field("coalesces", &self.coalesces)
            .field("refused", &self.refused)
            .finish_non_exhaustive()
    }
}

impl TunWriter {
    pub(super) fn new(opened: Arc<Opened>) -> Self {
        let packets = std::iter::repeat_with(Outgoing::default).take(BATCH).collect();
        let coalesces = opened.device.tcp_gso();
        Self { opened, packets, table: GROTable::new(), coalesces, refused: 0 }
    }

    /// Hands IP packets to the kernel. Those of a flow arrive in this order.
    ///
    /// Packets that the kernel refuses, malformed ones among them, are left out and counted. If it
    /// refuses what was coalesced, its packets are written one by one, and so are all later ones.
    ///
    /// # Errors
    /// If the device is gone or down. Some of the packets may have been written then, as when this
    /// is cancelled.
    pub async fn send<P: AsRef<[u8]>>(
        &mut self,
        packets: impl IntoIterator<Item = P>,
    ) -> Result<(), DeviceError> {
        let mut count = 0;
        for packet in packets {
            if !self.packets[count].load(packet.as_ref()) {
                self.refused += 1;
                continue;
            }
            count += 1;
            if count == BATCH {
                self.flush(count).await?;
                count = 0;
            }
        }
        self.flush(count).await
    }

    /// Packets that the kernel has refused since the device was made.
    pub fn refused(&self) -> u64 {
        self.refused
    }

    /// Whether packets of a flow are still written in one piece.
    pub fn coalesces(&self) -> bool {
        self.coalesces
    }

    async fn flush(&mut self, count: usize) -> Result<(), DeviceError> {
        if self.coalesces {
            self.coalesce(count);
        } else {
            self.packets[..count].iter_mut().for_each(Outgoing::set_plain);
        }
        for number in 0..count {
            match self.packets[number].piece() {
                Ok(Piece::Merged) => {}
                Ok(Piece::Whole) => self.write_whole(number).await?,
                Ok(Piece::Coalesced(header)) => self.write_coalesced(number, header).await?,
                Err(error) => self.refuse(&error)?,
            }
        }
        Ok(())
    }

    fn coalesce(&mut self, count: usize) {
        let (packets, datagrams) = (&mut self.packets[..count], self.opened.device.udp_gso());
        // An error would be a mistake in the length of a header or a number of packets, of which
        // there is one each.
        if let Err(error) = self.table.apply_gro(packets, VIRTIO_NET_HDR_LEN, datagrams) {
            self.stop_coalescing(&error);
        }
    }

    async fn write_whole(&mut self, number: usize) -> Result<(), DeviceError> {
        let packet = &self.packets[number];
        let bytes = if self.opened.device.tcp_gso() { packet.framed() } else { packet.packet() };
        match self.opened.device.send(bytes).await {
            Ok(_) => Ok(()),
            Err(error) => self.refuse(&error),
        }
    }

    async fn write_coalesced(
        &mut self,
        number: usize,
        header: VirtioNetHdr,
    ) -> Result<(), DeviceError> {
        match self.opened.device.send(self.packets[number].framed()).await {
            Ok(_) => Ok(()),
            Err(error) => {
                if let Some(lost) = self.opened.lost(&error) {
                    return Err(lost);
                }
                self.stop_coalescing(&error);
                self.write_apart(number, header).await
            }
        }
    }

    /// Writes what was coalesced as the packets that it was made of.
    async fn write_apart(
        &mut self,
        number: usize,
        header: VirtioNetHdr,
    ) -> Result<(), DeviceError> {
        let packets = match split(self.packets[number].packet(), header) {
            Ok(packets) => packets,
            Err(error) => return self.refuse(&error),
        };
        for packet in packets {
            if let Err(error) = self.opened.device.send(&packet).await {
                self.refuse(&error)?;
            }
        }
        Ok(())
    }

    fn stop_coalescing(&mut self, error: &io::Error) {
        if self.coalesces {
            let name = &self.opened.name;
            tracing::warn!("{name}: packets are written one by one from now on: {error}");
        }
        self.coalesces = false;
    }

    /// Counts a packet, if that is all that is wrong.
    fn refuse(&mut self, error: &io::Error) -> Result<(), DeviceError> {
        if let Some(lost) = self.opened.lost(error) {
            return Err(lost);
        }
        tracing::debug!("{}: a packet is refused: {error}", self.opened.name);
        self.refused += 1;
        Ok(())
    }
}

/// The packets of a coalesced one, each after the header of a plain one.
fn split(packet: &[u8], header: VirtioNetHdr) -> io::Result<Vec<Vec<u8>>> {
    let mut whole = packet.to_vec();
    let longest = VIRTIO_NET_HDR_LEN + usize::from(header.hdr_len) + usize::from(header.gso_size);
    let mut packets = vec![vec![0; longest]; BATCH];
    let mut lengths = [0; BATCH];
    let is_v6 = packet.first().is_some_and(|byte| byte >> 4 == 6);
    let split =
        gso_split(&mut whole, header, &mut packets, &mut lengths, VIRTIO_NET_HDR_LEN, is_v6)?;
    packets.truncate(split);
    let cut =
        |(packet, length): (&mut Vec<u8>, usize)| packet.truncate(VIRTIO_NET_HDR_LEN + length);
    packets.iter_mut().zip(lengths).for_each(cut);
    Ok(packets)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The sum of RFC 1071, of 16-bit words.
    fn sum(parts: &[&[u8]]) -> u16 {
        let words = parts.iter().flat_map(|part| part.chunks(2));
        let words =
            words.map(|word| u32::from(word[0]) << 8 | u32::from(*word.get(1).unwrap_or(&0)));
        let sum: u32 = words.sum();
        let folded = (sum & 0xffff) + (sum >> 16);
        !((folded & 0xffff) + (folded >> 16)) as u16
    }

    /// A datagram of a flow, with the sums of IP and UDP.
    fn datagram(number: u8, payload: &[u8]) -> Vec<u8> {
        let udp_length = (8 + payload.len() as u16).to_be_bytes();
        let length = (28 + payload.len() as u16).to_be_bytes();
        let addresses = [10, 77, 0, 1, 10, 77, 0, 2];
        let start = [0x45, 0, length[0], length[1], 0, number, 0, 0, 64, 17];
        let ip_sum = sum(&[&start, &addresses]).to_be_bytes();
        let ports = [0x20, 0, 0, 9, udp_length[0], udp_length[1]];
        let pseudo = [&addresses[..], &[0, 17], &udp_length];
        let udp_sum = sum(&[&pseudo.concat(), &ports, payload]).to_be_bytes();
        [&start[..], &ip_sum, &addresses, &ports, &udp_sum, payload].concat()
    }

    fn loaded(packets: &[Vec<u8>]) -> Vec<Outgoing> {
        let load = |packet: &Vec<u8>| {
            let mut outgoing = Outgoing::default();
            assert!(outgoing.load(packet));
            outgoing
        };
        packets.iter().map(load).collect()
    }

    #[test]
    fn what_was_coalesced_is_split_into_the_packets_that_it_was_made_of() {
        let packets: Vec<_> = (0..40).map(|n| datagram(n, &[n; 1000])).collect();
        let mut outgoing = loaded(&packets);
        GROTable::new().apply_gro(&mut outgoing, VIRTIO_NET_HDR_LEN, true).unwrap();
        let Ok(Piece::Coalesced(header)) = outgoing[0].piece() else { panic!("not coalesced") };
        assert!(outgoing[1..].iter().all(|other| matches!(other.piece(), Ok(Piece::Merged))));
        let apart = split(outgoing[0].packet(), header).unwrap();
        let plain = packets.iter().map(|p| [&[0; VIRTIO_NET_HDR_LEN], &p[..]].concat());
        assert_eq!(apart, plain.collect::<Vec<_>>());
    }

    #[test]
    fn no_more_than_a_packet_of_ip_is_coalesced() {
        let packets: Vec<_> = (0..BATCH as u8).map(|n| datagram(n, &[n; 1400])).collect();
        let mut outgoing = loaded(&packets);
        GROTable::new().apply_gro(&mut outgoing, VIRTIO_NET_HDR_LEN, true).unwrap();
        // 46 payloads of 1400 bytes are within 65,535, 18 are left.
        let written = outgoing.iter().filter(|packet| !matches!(packet.piece(), Ok(Piece::Merged)));
        let lengths: Vec<_> = written.map(|packet| packet.packet().len()).collect();
        assert_eq!(lengths, [28 + 46 * 1400, 28 + 18 * 1400]);
    }

    #[test]
    fn what_cannot_be_coalesced_stays_whole() {
        let mut broken = datagram(1, &[1; 100]);
        broken[26] ^= 1;
        let packets = [datagram(0, &[0; 100]), broken, vec![0x45; 3], vec![0x60; 50]];
        let mut outgoing = loaded(&packets);
        GROTable::new().apply_gro(&mut outgoing, VIRTIO_NET_HDR_LEN, true).unwrap();
        assert!(outgoing.iter().all(|packet| matches!(packet.piece(), Ok(Piece::Whole))));
        assert!(outgoing.iter().map(Outgoing::packet).eq(&packets));
    }
}
