//! Which mode the datagrams of clients have, as the user says it.

use polypath_bond::FlowMode;
use polypath_net::proxy::{Steering, SteeringRule};

use super::Fault;

/// What `udp_rule` and `udp_mode` say together.
///
/// # Errors
/// When a rule is never reached, or there are too many.
pub(crate) fn steering(rules: &[SteeringRule], mode: Option<FlowMode>) -> Result<Steering, Fault> {
    let steering = Steering::new(rules.to_vec(), mode.unwrap_or_default());
    steering.map_err(|error| Fault::new("udp_rule", error.to_string()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rules_come_before_the_mode_for_all_others() {
        let rules = ["port 53: redundant".parse().unwrap()];
        let both = steering(&rules, Some(FlowMode::Best)).unwrap();
        assert_eq!(both, Steering::new(rules.to_vec(), FlowMode::Best).unwrap());
        assert_eq!(steering(&[], None), Ok(Steering::default()));
        let twice = [&rules[..], &rules].concat();
        let fault = steering(&twice, None).unwrap_err();
        assert_eq!(fault.key, "udp_rule");
        assert!(fault.message.contains("is never reached"), "{}", fault.message);
    }
}
