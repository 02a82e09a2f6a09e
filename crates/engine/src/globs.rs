//! Path globs, in ripgrep's `--glob` flavour: a gitignore line with `!` turned round, which also
//! overrules ignore rules and hidden names.

use ignore::overrides::{Override, OverrideBuilder};

use crate::error::Error;
use crate::scope::path_of;

/// Compiles the globs of a query; those with a slash start from `base`.
pub(crate) fn compile(globs: &[String], base: &[u8]) -> Result<Override, Error> {
    if globs.is_empty() {
        return Ok(Override::empty());
    }
    let mut builder = OverrideBuilder::new(path_of(base));
    for glob in globs {
        builder.add(glob).map_err(|error| Error::Glob(error.to_string()))?;
    }
    builder.build().map_err(|error| Error::Glob(error.to_string()))
}
