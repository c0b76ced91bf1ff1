//! Threads for calls that block, apart from those of everything else.

use std::io;

use tokio::runtime::{Builder, Runtime};

/// Stack of a thread: name service modules of the system run on it.
const STACK: usize = 512 << 10;

/// A pool of threads, made as they are needed and ended when they have been idle for a while. Calls
/// that hang take nothing from calls elsewhere.
#[derive(Debug)]
pub(crate) struct BlockingPool(Option<Runtime>);

impl BlockingPool {
    /// At most `threads`; more calls wait their turn.
    ///
    /// # Errors
    /// When the system gives no means to wait.
    pub(crate) fn new(name: &str, threads: usize) -> io::Result<Self> {
        let runtime = Builder::new_current_thread()
            .max_blocking_threads(threads)
            .thread_stack_size(STACK)
            .thread_name(name)
            .build()?;
        Ok(Self(Some(runtime)))
    }

    /// What `call` returns. It goes on when the future is dropped.
    ///
    /// # Errors
    /// When the call panics, or the pool is at its end.
    pub(crate) async fn run<T: Send + 'static>(
        &self,
        call: impl FnOnce() -> T + Send + 'static,
    ) -> io::Result<T> {
        let Some(runtime) = &self.0 else { return Err(io::ErrorKind::BrokenPipe.into()) };
        runtime.spawn_blocking(call).await.map_err(io::Error::other)
    }
}

impl Drop for BlockingPool {
    /// Waits for no call: one may hang for long, and to wait would block the thread that drops
    /// this, which may be one of a runtime.
    fn drop(&mut self) {
        if let Some(runtime) = self.0.take() {
            runtime.shutdown_background();
        }
    }
}
