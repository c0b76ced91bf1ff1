//! What carries the connections that an edge splits.

/// What carries the connections that an edge splits.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Transport {
    /// Each is a stream of the bond, which is encrypted.
    #[default]
    Bond,
    /// Each is a connection of the kernel's Multipath TCP to the hub, which is not unless either
    /// end asks for it.
    Mptcp,
}

polypath_units::named!(Transport, "is no transport of connections", {
    Bond => "bond",
    Mptcp => "mptcp",
});

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn transports_have_names() {
        for transport in Transport::ALL {
            assert_eq!(transport.to_string().parse(), Ok(transport));
        }
        let error = "quic".parse::<Transport>().unwrap_err().to_string();
        assert!(error.ends_with("allowed: bond, mptcp"), "{error}");
    }
}
