//! What comes by the flows of a gateway.

use std::future::Future;
use std::io;
use std::sync::Arc;

use bytes::Bytes;
use polypath_bond::CarriedBytes;
use polypath_ip::{IpEcn, MarkedNotCapable, Packet};
use polypath_steering::FlowIndex;
use tokio::sync::mpsc;
use tokio::task::JoinSet;

use super::BATCH;
use crate::driver::BondFlow;

/// A flow, with the place that it has among those of its gateway.
pub(super) type Added = (FlowIndex, Arc<BondFlow>);

/// Who takes what comes out of the bond.
pub(super) trait Receive: Send + Sync + 'static {
    /// Takes some. As long as it waits, what comes by the same flow waits in the flow.
    fn receive(&self, flow: FlowIndex, datagrams: Vec<Bytes>) -> impl Future<Output = ()> + Send;
}

/// Hands packets over to the device. Where the gateway is being stopped, nobody takes them any
/// more.
pub(super) async fn deliver(device: &mpsc::Sender<Bytes>, mut packets: Vec<Bytes>) {
    while !packets.is_empty() {
        let count = packets.len().min(device.max_capacity());
        let Ok(places) = device.reserve_many(count).await else { return };
        places.zip(packets.drain(..count)).for_each(|(place, packet)| place.send(packet));
    }
}

/// Hands over what comes by all flows that are added, until one of them ends: they end together,
/// with the bond.
pub(super) async fn receive_all<R: Receive>(
    receiver: Arc<R>,
    mut added: mpsc::UnboundedReceiver<Added>,
) -> io::Error {
    let mut flows = JoinSet::new();
    loop {
        tokio::select! {
            Some((index, flow)) = added.recv() => {
                flows.spawn(receive_by(Arc::clone(&receiver), index, flow));
            }
            Some(ended) = flows.join_next() => return ended.unwrap_or_else(io::Error::other),
            else => return io::ErrorKind::UnexpectedEof.into(),
        }
    }
}

async fn receive_by<R: Receive>(
    receiver: Arc<R>,
    index: FlowIndex,
    flow: Arc<BondFlow>,
) -> io::Error {
    loop {
        match flow.recv_many(BATCH).await {
            Ok(datagrams) => {
                receiver.receive(index, datagrams.into_iter().map(leave_bond).collect()).await;
            }
            Err(error) => return error,
        }
    }
}

/// A datagram as it leaves the bond: where a path has marked it, a packet in it whose transport
/// understands marks has the mark (RFC 6040, section 4.2). Others pass: the mark was made on a
/// packet of the bond, which has slowed down for it, and they would be lost by it.
fn leave_bond(CarriedBytes { data, is_marked }: CarriedBytes) -> Bytes {
    if !is_marked {
        return data;
    }
    let Ok(mut packet) = Packet::parse(data.to_vec()) else { return data };
    match packet.decapsulate_ecn(IpEcn::CongestionExperienced) {
        Ok(()) => packet.into_bytes().into(),
        Err(MarkedNotCapable) => data,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use polypath_ip::{IpHeader, Ports};
    use std::net::Ipv4Addr;

    fn packet(ecn: IpEcn) -> Bytes {
        let ends = [1, 2].map(|host| Ipv4Addr::new(10, 77, 0, host).into());
        let mut bytes = Vec::new();
        let ports = Ports { source: 1, destination: 2 };
        IpHeader::new(ends[0], ends[1]).unwrap().write_udp(ports, &[7; 9], &mut bytes).unwrap();
        let mut packet = Packet::parse(bytes).unwrap();
        packet.set_ecn(ecn);
        packet.into_bytes().into()
    }

    #[test]
    fn a_packet_has_the_mark_of_the_path_that_brought_it_if_its_transport_understands_it() {
        const CE: IpEcn = IpEcn::CongestionExperienced;
        for (sent, left) in
            [(IpEcn::Ect0, CE), (IpEcn::Ect1, CE), (CE, CE), (IpEcn::NotEct, IpEcn::NotEct)]
        {
            let data = packet(sent);
            assert_eq!(leave_bond(data.clone().into()), data);
            let marked = leave_bond(CarriedBytes { data, is_marked: true });
            assert_eq!(marked, packet(left), "{sent:?}");
        }
    }

    #[test]
    fn what_is_no_packet_stays_as_it_is() {
        let message = CarriedBytes { data: Bytes::from_static(&[0, 1, 2]), is_marked: true };
        assert_eq!(leave_bond(message.clone()), message.data);
    }
}
