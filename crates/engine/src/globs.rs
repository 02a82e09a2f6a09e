//! Path globs and denied patterns, compiled; and paths as the crates take them.
//!
//! Globs are in ripgrep's `--glob` flavour: a gitignore line with `!` turned round, which also
//! overrules ignore rules and hidden names.

use ignore::gitignore::{Gitignore, GitignoreBuilder};
use ignore::overrides::{Override, OverrideBuilder};

use crate::error::Error;

/// Groups in braces nested deeper than this are refused: the crate parses them by recursion, and
/// a stack that overflows ends the process.
const NESTED_GROUPS: usize = 64;

/// Whether a glob, or a rule of a rule file, has too many groups to be parsed.
pub(crate) fn is_too_deep(glob: &str) -> bool {
    glob.bytes().filter(|&byte| byte == b'{').count() > NESTED_GROUPS
}

/// The error for such a glob.
fn too_deep(glob: &str) -> Error {
    Error::Glob(format!("error parsing glob '{glob}': more than {NESTED_GROUPS} groups in braces"))
}

/// Compiles the globs of a query; those with a slash start from `base`.
pub(crate) fn compile(globs: &[String], base: &[u8]) -> Result<Override, Error> {
    if globs.is_empty() {
        return Ok(Override::empty());
    }
    let mut builder = OverrideBuilder::new(path_of(base));
    for glob in globs {
        if is_too_deep(glob) {
            return Err(too_deep(glob));
        }
        builder.add(glob).map_err(|error| Error::Glob(error.to_string()))?;
    }
    builder.build().map_err(|error| Error::Glob(error.to_string()))
}

/// Compiles denied patterns, in the manner of `.gitignore`.
pub(crate) fn compile_denied(deny: &[String]) -> Result<Option<Gitignore>, Error> {
    if deny.is_empty() {
        return Ok(None);
    }
    let mut builder = GitignoreBuilder::new("");
    for pattern in deny {
        if is_too_deep(pattern) {
            return Err(too_deep(pattern));
        }
        builder.add_line(None, pattern).map_err(|error| Error::Glob(error.to_string()))?;
    }
    builder.build().map(Some).map_err(|error| Error::Glob(error.to_string()))
}

/// Bytes of a path as the crates take them.
pub(crate) fn path_of(bytes: &[u8]) -> &std::path::Path {
    #[cfg(unix)]
    {
        use std::os::unix::ffi::OsStrExt;
        std::path::Path::new(std::ffi::OsStr::from_bytes(bytes))
    }
    #[cfg(not(unix))]
    {
        std::path::Path::new(std::str::from_utf8(bytes).unwrap_or(""))
    }
}
