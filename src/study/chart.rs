//! What to draw: the `[[chart]]` tables of a scenario. Data only; `report::chart` draws.

use super::reference::PublishedSeries;

/// One chart of a scenario.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Chart {
    /// What kind of picture.
    pub kind: ChartKind,
    /// The axis along the bottom, by its dotted path (lines, heatmap); None takes the last axis with numbers.
    pub x: Option<String>,
    /// The metrics or series up the side; for a heatmap the second axis. Empty takes the kind's default.
    pub y: Vec<String>,
    /// The metric in the cells of a heatmap.
    pub value: Option<String>,
    /// Only the cells whose axes have these values: (dotted path, value as CSV writes it).
    pub filter: Vec<(String, String)>,
    /// The question the chart answers; None takes the scenario's title.
    pub title: Option<String>,
    /// The scale along the bottom and up the side.
    pub scale: (Scale, Scale),
    /// Published series to show beside those of a timeline.
    pub reference: Vec<PublishedSeries>,
}

/// The kinds of chart.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ChartKind {
    /// A metric against an axis, a line a value of the other axes, with interval bands.
    Lines,
    /// Series over time, a small panel a cell.
    #[default]
    Timeline,
    /// Metrics as bars with intervals, a bar a cell.
    Bars,
    /// Latency against percentile, a line a cell.
    Latency,
    /// Attempts per call at each service.
    Layers,
    /// A metric over two axes, the number in each cell.
    Heatmap,
    /// A series against the load of the same time, the way up and the way down.
    Hysteresis,
}

/// How an axis of a chart is divided.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Scale {
    /// Logarithmic where the values are above zero and span more than two decades.
    #[default]
    Auto,
    /// Linear.
    Linear,
    /// Logarithmic; values of zero and less are left out.
    Log,
}
