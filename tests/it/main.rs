#[cfg(feature = "charts")]
mod charts;
