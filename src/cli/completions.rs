//! `completions`: a script that lets a shell complete the command line.

use clap::{Args, CommandFactory};
use clap_complete::Shell;

use super::Outcome;
use super::speak::print;

/// What `completions` is told.
#[derive(Debug, Args)]
pub struct CompletionsArguments {
    /// The shell
    shell: Shell,
}

/// Prints the script.
pub fn completions<C: CommandFactory>(arguments: &CompletionsArguments) -> Outcome {
    let mut script = Vec::new();
    clap_complete::generate(arguments.shell, &mut C::command(), "retrystorm", &mut script);
    print(&String::from_utf8_lossy(&script))
}
