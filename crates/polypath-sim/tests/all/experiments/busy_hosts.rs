//! More of the [runs](crate::busy_hosts) in which hosts stand still.

use crate::busy_hosts::assert_paths_hardly_ever_fail;

#[test]
fn paths_hardly_ever_fail_because_a_host_stands_still() {
    assert_paths_hardly_ever_fail(1_000..1_300);
}
