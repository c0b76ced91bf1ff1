//! A runtime of one thread, which is that of a network namespace.

use std::time::Duration;

use crate::namespace::Namespace;

/// Against hanging only.
pub(crate) const PATIENCE: Duration = Duration::from_secs(20);

/// Does something in a network namespace, with a runtime.
pub(crate) fn within<T: Send>(namespace: &Namespace, act: impl AsyncFnOnce() -> T + Send) -> T {
    namespace.within(|| {
        let mut runtime = tokio::runtime::Builder::new_current_thread();
        let runtime = runtime.enable_all().build().unwrap();
        let bounded = async { tokio::time::timeout(PATIENCE, act()).await };
        runtime.block_on(bounded).expect("nothing hangs")
    })
}
