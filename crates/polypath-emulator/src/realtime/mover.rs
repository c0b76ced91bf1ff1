//! A thread that moves packets, and the handle that steers it.

use rustix::fd::{AsFd, BorrowedFd};
use std::io::{self, PipeReader, PipeWriter};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::{Builder, JoinHandle};

/// What the thread shares with its handle.
#[derive(Debug)]
pub struct Shared<T> {
    stopping: AtomicBool,
    woken: PipeReader,
    wake: PipeWriter,
    state: Mutex<T>,
}

impl<T> Shared<T> {
    /// The state; it stays usable if a holder panicked, as each change of it is complete.
    pub fn lock(&self) -> MutexGuard<'_, T> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Whether the thread is to end.
    pub fn is_stopping(&self) -> bool {
        self.stopping.load(Ordering::Acquire)
    }

    /// What becomes readable when the thread is to look at the state anew.
    pub(crate) fn woken(&self) -> BorrowedFd<'_> {
        self.woken.as_fd()
    }

    /// Lets the thread look at the state anew.
    pub fn wake(&self) {
        // A full pipe wakes as well as one more byte.
        let _ = rustix::io::write(&self.wake, &[0]);
    }

    /// Says that the thread looks now.
    pub(crate) fn clear_wakes(&self) {
        // Without a wake there is nothing to read; what is left wakes once more.
        let _ = rustix::io::read(&self.woken, &mut [0; 64]);
    }
}

/// A running thread. Dropping it tells the thread to stop and waits for that.
#[derive(Debug)]
pub struct Mover<T> {
    shared: Arc<Shared<T>>,
    thread: Option<JoinHandle<()>>,
}

impl<T: Send + 'static> Mover<T> {
    /// Starts a thread that runs `work` until [`Shared::is_stopping`].
    ///
    /// # Errors
    /// What making a thread or a pipe fails with.
    pub fn start(
        name: String,
        state: T,
        work: impl FnOnce(&Shared<T>) + Send + 'static,
    ) -> io::Result<Self> {
        let (woken, wake) = io::pipe()?;
        rustix::io::ioctl_fionbio(&woken, true)?;
        rustix::io::ioctl_fionbio(&wake, true)?;
        let (stopping, state) = (AtomicBool::new(false), Mutex::new(state));
        let shared = Arc::new(Shared { stopping, woken, wake, state });
        let of_thread = shared.clone();
        let thread = Builder::new().name(name).spawn(move || work(&of_thread))?;
        Ok(Self { shared, thread: Some(thread) })
    }
}

impl<T> Mover<T> {
    /// What the thread shares.
    pub fn shared(&self) -> &Shared<T> {
        &self.shared
    }

    /// Tells the thread to stop and waits for that. The state stays.
    pub fn stop(&mut self) {
        self.shared.stopping.store(true, Ordering::Release);
        self.shared.wake();
        if let Some(thread) = self.thread.take() {
            // A panic of the thread was reported when it happened.
            let _ = thread.join();
        }
    }
}

impl<T> Drop for Mover<T> {
    fn drop(&mut self) {
        self.stop();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::realtime::Clock;
    use rustix::event::{PollFd, PollFlags};

    /// Counts wakes until told to stop.
    fn count_wakes(shared: &Shared<u32>) {
        while !shared.is_stopping() {
            let woken = shared.woken();
            let mut fds = [PollFd::from_borrowed_fd(woken, PollFlags::IN)];
            Clock::start().wait(&mut fds, None).unwrap();
            shared.clear_wakes();
            *shared.lock() += 1;
        }
    }

    #[test]
    fn a_waiting_thread_is_woken_and_stopped() {
        let mut mover = Mover::start("test".to_owned(), 0, count_wakes).unwrap();
        // More than a pipe holds.
        (0..100_000).for_each(|_| mover.shared().wake());
        while *mover.shared().lock() == 0 {
            std::thread::yield_now();
        }
        mover.stop();
        let wakes = *mover.shared().lock();
        assert!((1..=100_001).contains(&wakes), "{wakes}");
    }
}
