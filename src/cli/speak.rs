//! How the program speaks: data to stdout, talk to stderr, and an exit code at the end.

use std::io::{ErrorKind, Write};
use std::process::ExitCode;

use crate::study::scenario::ScenarioError;

/// Why a command ends without success.
#[derive(Debug)]
pub enum Failure {
    /// An expectation does not hold: exit code 1. It has been told already.
    Expectation,
    /// The command line, a file or its place is wrong: exit code 2.
    Wrong(String),
    /// A scenario is wrong: exit code 2.
    Scenario(Box<ScenarioError>),
    /// The program contradicts itself: exit code 1.
    Broken(String),
    /// Broken off from outside; what was finished is written: exit code 130.
    Interrupted,
}

impl Failure {
    /// Says what is wrong, and gives the exit code.
    pub fn report(&self) -> ExitCode {
        match self {
            Failure::Expectation => return ExitCode::from(1),
            Failure::Broken(message) => {
                say(&format!("error: {message}"));
                return ExitCode::from(1);
            }
            Failure::Wrong(message) => say(&format!("error: {message}")),
            Failure::Scenario(error) => say(&error.coloured()),
            Failure::Interrupted => {
                say("interrupted; what was finished is written");
                return ExitCode::from(130);
            }
        }
        ExitCode::from(2)
    }

    /// Something about a file or folder.
    pub fn at(path: &std::path::Path, error: &dyn std::fmt::Display) -> Failure {
        Failure::Wrong(format!("{}: {error}", path.display()))
    }
}

impl From<ScenarioError> for Failure {
    fn from(error: ScenarioError) -> Failure {
        Failure::Scenario(Box::new(error))
    }
}

/// Talk, to stderr. Where nobody listens there is nothing to do about it.
pub fn say(text: &str) {
    let _ = writeln!(anstream::stderr(), "{text}");
}

/// Data, to stdout. A reader that has seen enough (`| head`) is no error.
pub fn print(text: &str) -> Result<(), Failure> {
    let mut stdout = anstream::stdout();
    match stdout.write_all(text.as_bytes()).and_then(|()| stdout.flush()) {
        Err(error) if error.kind() != ErrorKind::BrokenPipe => Err(Failure::Wrong(format!("stdout: {error}"))),
        _ => Ok(()),
    }
}
