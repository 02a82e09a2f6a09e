//! The few ways a whole query can fail. Everything else is data in the Answer.

/// A query that can't be answered.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Error {
    /// A pattern that does not compile; the diagnostic of ripgrep's crates.
    Pattern(String),
    /// A glob that does not compile; likewise.
    Glob(String),
    /// A file type that does not exist; likewise.
    Type(String),
    /// The caller's flag was set.
    Cancelled,
}

impl Error {
    /// The kind, as `QueryError.kind` spells it.
    pub fn kind(&self) -> &'static str {
        match self {
            Error::Pattern(_) => "pattern",
            Error::Glob(_) => "glob",
            Error::Type(_) => "type",
            Error::Cancelled => "cancelled",
        }
    }
}

impl std::fmt::Display for Error {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Error::Pattern(text) | Error::Glob(text) | Error::Type(text) => {
                formatter.write_str(text)
            }
            Error::Cancelled => formatter.write_str("the query was cancelled"),
        }
    }
}

impl std::error::Error for Error {}
