//! Many runs, several at once, until they are done or a signal comes.

mod options;
mod progress;

use std::num::NonZeroUsize;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError, mpsc};
use std::thread;

use crate::store::{Label, Opened, Store};
use rayon::prelude::*;
use serde::Serialize;
use serde::de::DeserializeOwned;

pub(super) use options::{RunsOptions, one_for_each_core};
use progress::Progress;

use polypath::output;
use polypath::service::{self, Stop};

/// A run that depends on nothing else.
pub(super) trait Work: Send + Sync {
    /// What comes out.
    type Measured: Clone + Send + Sync + Serialize + DeserializeOwned;

    /// What its results are kept under.
    fn label(&self) -> Label;

    /// Runs it.
    ///
    /// # Errors
    /// When it fails.
    fn run(&self) -> anyhow::Result<Self::Measured>;
}

/// How the runs ended.
pub(super) enum Finished<W: Work> {
    /// All are done, in the order in which they were given.
    All(Vec<(W, W::Measured)>),
    /// A signal came.
    Interrupted { done: usize, of: usize },
}

/// What all threads share.
struct Shared<M> {
    store: Option<Mutex<Store<M>>>,
    progress: Progress,
    stopped: Arc<AtomicBool>,
}

/// What to tell of runs that were interrupted.
pub(super) fn interrupted(folder: Option<&Path>, done: usize, of: usize) -> String {
    let kept = match folder {
        Some(folder) => format!("they are in {}; the same command goes on", folder.display()),
        None => "with --out DIR they would have been kept".to_owned(),
    };
    format!("interrupted after {done} of {of} runs: {kept}\n")
}

/// Runs what is not in `folder` yet, so many at a time. Results do not depend on how many that is.
///
/// # Errors
/// When a run fails, or results cannot be read or written.
pub(super) fn run<W: Work>(
    jobs: Vec<W>,
    folder: Option<&Path>,
    at_once: NonZeroUsize,
) -> anyhow::Result<Finished<W>> {
    let store = folder.map(open::<W::Measured>).transpose()?;
    let known = |job: W| {
        let measured = store.as_ref().and_then(|store| store.get(&job.label().key));
        (job, measured)
    };
    let jobs: Vec<_> = jobs.into_iter().map(known).collect();
    let (of, there) = (jobs.len(), jobs.iter().filter(|(_, known)| known.is_some()).count());
    let progress = Progress::stderr(of, there);
    let stopped = Arc::new(AtomicBool::new(false));
    let flag = Arc::clone(&stopped);
    on_signal(move || flag.store(true, Ordering::Relaxed));
    let shared = Shared { store: store.map(Mutex::new), progress, stopped };
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

fn open<M: Clone + Serialize + DeserializeOwned>(folder: &Path) -> anyhow::Result<Store<M>> {
    let Opened { store, torn } = Store::open(folder)?;
    if torn {
        let folder = folder.display();
        output::tell(&format!(
            "warning: the last line of the results in {folder} was not whole and is dropped\n"
        ));
    }
    Ok(store)
}

impl<M: Clone + Serialize + DeserializeOwned> Shared<M> {
    /// A run, unless it is known; none once a signal has come.
    fn one<W: Work<Measured = M>>(
        &self,
        job: W,
        known: Option<M>,
    ) -> anyhow::Result<Option<(W, M)>> {
        if let Some(measured) = known {
            return Ok(Some((job, measured)));
        }
        if self.stopped.load(Ordering::Relaxed) {
            return Ok(None);
        }
        let measured = job.run()?;
        if let Some(store) = &self.store {
            let mut store = store.lock().unwrap_or_else(PoisonError::into_inner);
            store.append(job.label(), measured.clone())?;
        }
        self.progress.done();
        Ok(Some((job, measured)))
    }
}

/// Does this once a signal that ends commands has come; one that comes after the return of this
/// ends nothing else. Where signals cannot be caught they end the program.
pub(super) fn on_signal(act: impl FnOnce() + Send + 'static) {
    let (ready, caught) = mpsc::channel();
    thread::spawn(move || {
        service::run(async {
            let mut stop = Stop::new()?;
            // The other end waits for this.
            let _ = ready.send(());
            stop.wait().await;
            act();
            Ok(())
        })
    });
    // The thread has dropped its end if it cannot catch them.
    let _ = caught.recv();
}
