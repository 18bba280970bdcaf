//! How far a study is: a bar on a terminal, elsewhere a plain line every few seconds.

use std::io::IsTerminal;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use indicatif::{ProgressBar, ProgressStyle};

use super::speak::say;
use crate::study::experiment::Watch;

/// How often the bar is drawn, and how often a line is printed.
const DRAW: Duration = Duration::from_millis(100);
const SPEAK: Duration = Duration::from_secs(5);

/// Tells of progress while `work` runs.
pub fn follow<T: Send>(watch: &Watch, quiet: bool, work: impl FnOnce() -> T + Send) -> T {
    if quiet {
        return work();
    }
    let done = AtomicBool::new(false);
    std::thread::scope(|scope| {
        let teller = scope.spawn(|| if std::io::stderr().is_terminal() { draw(watch, &done) } else { tell(watch, &done) });
        let result = work();
        done.store(true, Ordering::Release);
        teller.thread().unpark();
        result
    })
}

fn draw(watch: &Watch, done: &AtomicBool) {
    let bar = ProgressBar::new(0);
    let style = ProgressStyle::with_template("{bar:40} {pos}/{len} runs  {elapsed}  about {eta} left")
        .unwrap_or_else(|_| ProgressStyle::default_bar());
    bar.set_style(style);
    while !done.load(Ordering::Acquire) {
        bar.set_length(watch.planned.load(Ordering::Relaxed) as u64);
        bar.set_position(watch.finished.load(Ordering::Relaxed) as u64);
        std::thread::park_timeout(DRAW);
    }
    bar.finish_and_clear();
}

fn tell(watch: &Watch, done: &AtomicBool) {
    let mut spoken = Instant::now();
    while !done.load(Ordering::Acquire) {
        std::thread::park_timeout(DRAW);
        if spoken.elapsed() >= SPEAK {
            spoken = Instant::now();
            say(&format!("{} of {} runs", watch.finished.load(Ordering::Relaxed), watch.planned.load(Ordering::Relaxed)));
        }
    }
}
