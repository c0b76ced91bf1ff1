//! A conversation at a hub.

/// A conversation that goes through a hub: in which flow it is answered. `F` tells flows apart.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct HubConversation<F> {
    /// That carried the edge's last packet, or that the edge has asked for since.
    flow: F,
}

impl<F: Copy> HubConversation<F> {
    /// The edge has sent its first packet, in this flow.
    pub const fn begin(flow: F) -> Self {
        Self { flow }
    }

    /// The edge has sent a packet in this flow, or wants to be answered in it.
    pub const fn answer_in(&mut self, flow: F) {
        self.flow = flow;
    }

    /// The flow of a packet for the edge. Conversations in which the edge has sent nothing have
    /// the first that it has opened.
    pub fn flow_of(known: Option<&Self>, first: F) -> F {
        known.map_or(first, |known| known.flow)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_word_of_the_edge_says_in_which_flow_it_is_answered() {
        assert_eq!(HubConversation::flow_of(None, 'a'), 'a');
        let mut known = HubConversation::begin('b');
        assert_eq!(HubConversation::flow_of(Some(&known), 'a'), 'b');
        known.answer_in('c');
        assert_eq!(HubConversation::flow_of(Some(&known), 'a'), 'c');
    }
}
