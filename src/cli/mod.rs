//! Floor 5: the door. One file a command; what a command does is done by the floors below.

mod check;
mod completions;
mod delays;
mod explain;
mod list;
mod load;
mod paper;
#[cfg(feature = "charts")]
mod plot;
mod progress;
mod run;
mod simulate;
mod speak;
mod trace;

use std::path::PathBuf;
use std::process::ExitCode;

use clap::{Args, Parser, Subcommand};

use speak::Failure;

/// See what retries do to a service, and a service to its retries, before the outage.
#[derive(Debug, Parser)]
#[command(
    name = "retrystorm",
    version,
    max_term_width = 110,
    after_help = "Start with:  retrystorm list    and    retrystorm run aws_jitter"
)]
struct Arguments {
    #[command(subcommand)]
    command: Command,
    #[command(flatten)]
    manner: Manner,
}

/// How it talks. Data goes to stdout, talk to stderr.
#[derive(Debug, Args)]
struct Manner {
    /// Say nothing on stderr but errors
    #[arg(long, short, global = true)]
    quiet: bool,
    /// When to use colour [auto also looks at NO_COLOR]
    #[arg(long, global = true, value_enum, default_value = "auto")]
    color: clap::ColorChoice,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Simulate every cell and replication of a scenario; write tables and charts; print a summary
    Run(run::RunArguments),
    /// Run a scenario's expectations; exit code 1 where one does not hold
    Check(check::CheckArguments),
    /// Print a scenario's model with all defaults filled in
    Explain(explain::ExplainArguments),
    /// Draw the charts of a results folder again, from its CSV files alone
    #[cfg(feature = "charts")]
    Plot(plot::PlotArguments),
    /// Tell one run event by event, an aligned line each
    Trace(trace::TraceArguments),
    /// List the scenarios that come with the program, or its presets
    List(list::ListArguments),
    /// Print when a policy's retries are sent; does it span an outage, does it fit a deadline?
    Delays(delays::DelaysArguments),
    /// Reproduce published laws and experiments, each held against its published or exact value
    Paper(paper::PaperArguments),
    /// Print a completion script for a shell
    Completions(completions::CompletionsArguments),
}

/// What is simulated, and what is different from the file.
#[derive(Debug, Args)]
struct ScenarioArguments {
    /// A scenario file, or the name of a curated scenario (see `retrystorm list`)
    scenario: String,
    /// Set a value of the scenario by its dotted path, such as service.api.workers=50 (repeatable)
    #[arg(long = "set", value_name = "PATH=VALUE")]
    set: Vec<String>,
    /// The seed, instead of the scenario's
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(..=i64::MAX as u64))]
    seed: Option<u64>,
}

/// How much is simulated, and on how many threads.
#[derive(Debug, Args)]
struct SimulationArguments {
    /// How many replications, instead of the scenario's number or precision
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    replications: Option<u32>,
    /// Only replication K, from 0: the same bytes as in the whole run
    #[arg(long, value_name = "K", conflicts_with = "replications")]
    only_replication: Option<u32>,
    /// Threads; the results do not depend on it [default: one for each core]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..))]
    threads: Option<u16>,
}

/// Where results are written.
#[derive(Debug, Args)]
struct OutputArguments {
    /// The folder to write to [default: results/SCENARIO]
    #[arg(long, value_name = "FOLDER")]
    out: Option<PathBuf>,
    /// Write no charts
    #[arg(long)]
    no_charts: bool,
}

/// Runs the program on the command line's arguments.
pub fn main() -> ExitCode {
    let arguments = Arguments::parse();
    arguments.manner.color.write_global();
    let quiet = arguments.manner.quiet;
    let result = match &arguments.command {
        Command::Run(arguments) => run::run(arguments, quiet),
        Command::Check(arguments) => check::check(arguments, quiet),
        Command::Explain(arguments) => explain::explain(arguments),
        #[cfg(feature = "charts")]
        Command::Plot(arguments) => plot::plot(arguments, quiet),
        Command::Trace(arguments) => trace::trace(arguments),
        Command::List(arguments) => list::list(arguments),
        Command::Delays(arguments) => delays::delays(arguments),
        Command::Paper(arguments) => paper::paper(arguments, quiet),
        Command::Completions(arguments) => completions::completions::<Arguments>(arguments),
    };
    match result {
        Ok(()) => ExitCode::SUCCESS,
        Err(failure) => failure.report(),
    }
}

/// Tells anstream what the command line said of colour.
trait WriteGlobal {
    fn write_global(self);
}

impl WriteGlobal for clap::ColorChoice {
    fn write_global(self) {
        match self {
            clap::ColorChoice::Auto => anstream::ColorChoice::Auto,
            clap::ColorChoice::Always => anstream::ColorChoice::AlwaysAnsi,
            clap::ColorChoice::Never => anstream::ColorChoice::Never,
        }
        .write_global();
    }
}

type Outcome = Result<(), Failure>;
