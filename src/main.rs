//! The door: reads the command line, does what it says, and turns the result into an exit code.

#![forbid(unsafe_code)]

use std::process::ExitCode;

fn main() -> ExitCode {
    retrystorm::cli::main()
}
