//! The runs of a grid, several at once, until they are done or a signal comes.

use std::num::NonZeroUsize;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;

use polypath_sim::compare::{Grid, Job, Measured, Opened, Store};
use rayon::prelude::*;

use super::progress::Progress;
use crate::command::service::{self, Stop};
use crate::output;

/// How the runs ended.
pub(super) enum Finished<'a> {
    /// All are done, in the order of the grid.
    All(Vec<(Job<'a>, Measured)>),
    /// A signal came.
    Interrupted { done: usize, of: usize },
}

/// What all threads share.
struct Shared {
    store: Option<Mutex<Store>>,
    progress: Progress,
    stopped: Arc<AtomicBool>,
}

/// Runs what is not in `folder` yet, so many at a time. Results do not depend on how many that is.
///
/// # Errors
/// When a run fails, or results cannot be read or written.
pub(super) fn run<'a>(
    grid: &'a Grid,
    folder: Option<&Path>,
    at_once: NonZeroUsize,
) -> anyhow::Result<Finished<'a>> {
    let store = folder.map(open).transpose()?;
    let known = |job: Job<'a>| {
        let measured = store.as_ref().and_then(|store| store.get(&job.key()));
        (job, measured)
    };
    let jobs: Vec<_> = grid.jobs().into_iter().map(known).collect();
    let (of, there) = (jobs.len(), jobs.iter().filter(|(_, known)| known.is_some()).count());
    let progress = Progress::stderr(of, there);
    let shared = Shared { store: store.map(Mutex::new), progress, stopped: on_signal() };
    let pool = rayon::ThreadPoolBuilder::new().num_threads(at_once.get()).build()?;
    let results = pool.install(|| {
        let all =
            jobs.into_par_iter().filter_map(|(job, known)| shared.one(job, known).transpose());
        all.collect::<anyhow::Result<Vec<_>>>()
    });
    shared.progress.finish();
    let results = results?;
    Ok(match results.len() == of {
        true => Finished::All(results),
        false => Finished::Interrupted { done: results.len(), of },
    })
}

fn open(folder: &Path) -> anyhow::Result<Store> {
    let Opened { store, torn } = Store::open(folder)?;
    if torn {
        let folder = folder.display();
        output::tell(&format!(
            "warning: the last line of the results in {folder} was not whole and is dropped\n"
        ));
    }
    Ok(store)
}

impl Shared {
    /// A run, unless it is known; none once a signal has come.
    fn one<'a>(
        &self,
        job: Job<'a>,
        known: Option<Measured>,
    ) -> anyhow::Result<Option<(Job<'a>, Measured)>> {
        if let Some(measured) = known {
            return Ok(Some((job, measured)));
        }
        if self.stopped.load(Ordering::Relaxed) {
            return Ok(None);
        }
        let measured = job.run(&mut |_| {})?;
        if let Some(store) = &self.store {
            let mut store = store.lock().unwrap_or_else(PoisonError::into_inner);
            store.append(&job, &measured)?;
        }
        self.progress.done();
        Ok(Some((job, measured)))
    }
}

/// True once a signal that ends commands has come. Where signals cannot be caught they end the
/// program, of which the runs that are over are kept, too.
fn on_signal() -> Arc<AtomicBool> {
    let stopped = Arc::new(AtomicBool::new(false));
    let flag = Arc::clone(&stopped);
    thread::spawn(move || {
        service::run(async {
            Stop::new()?.wait().await;
            flag.store(true, Ordering::Relaxed);
            Ok(())
        })
    });
    stopped
}
