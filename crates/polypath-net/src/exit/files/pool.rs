//! Threads for the work on files, apart from those that look up names.

use std::io;
use std::sync::Arc;

use tokio::sync::Mutex;

use super::StoreError;
use crate::blocking_pool::BlockingPool;

/// Pieces of work at the same time. More do not make a disk faster.
const THREADS: usize = 4;

/// The threads. They end with the last piece of work when this is dropped.
#[derive(Debug)]
pub(super) struct FilePool {
    threads: BlockingPool,
}

/// An edge's place in the queue: one piece of its work at a time. As the queue for the threads is
/// first come, first served, edges take turns.
pub(super) type Turn = Arc<Mutex<()>>;

impl FilePool {
    pub(super) fn new() -> io::Result<Self> {
        Ok(Self { threads: BlockingPool::new("polypath-files", THREADS)? })
    }

    /// Runs a short piece of work (a few MB at most). Once begun, it is carried through even if
    /// nobody waits for it any more, and holds the edge's turn until then.
    pub(super) async fn run<T: Send + 'static>(
        &self,
        turn: &Turn,
        work: impl FnOnce() -> Result<T, StoreError> + Send + 'static,
    ) -> Result<T, StoreError> {
        let mine = Arc::clone(turn).lock_owned().await;
        let done = self.threads.run(move || {
            let _held = mine;
            work()
        });
        done.await.map_err(|_| StoreError::Stopped)?
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::mpsc::channel;

    /// An edge fills its queue with work that does not end; another one's is done all the same.
    #[tokio::test]
    async fn the_work_of_one_edge_does_not_hold_that_of_another() {
        let pool = Arc::new(FilePool::new().unwrap());
        let (slow, quick) = (Turn::default(), Turn::default());
        let (release, released) = channel::<()>();
        let released = Arc::new(std::sync::Mutex::new(released));
        let stuck: Vec<_> = (0..2 * THREADS)
            .map(|_| {
                let (pool, slow, released) = (pool.clone(), slow.clone(), released.clone());
                tokio::spawn(async move {
                    let wait = move || {
                        // An error means that the test has let go.
                        let _ = released.lock().map(|released| released.recv());
                        Ok(())
                    };
                    pool.run(&slow, wait).await
                })
            })
            .collect();
        tokio::task::yield_now().await;
        for number in 0..100 {
            assert_eq!(pool.run(&quick, move || Ok(number)).await.unwrap(), number);
        }
        assert!(stuck.iter().all(|task| !task.is_finished()));
        drop(release);
        for task in stuck {
            task.await.unwrap().unwrap();
        }
    }
}
