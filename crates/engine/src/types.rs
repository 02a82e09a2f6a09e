//! File types as ripgrep names them; the table is the `ignore` crate's.

use ignore::types::{Types, TypesBuilder};

use crate::error::Error;

/// Compiles the types that are searched and those that are not.
pub(crate) fn compile(types: &[String], types_not: &[String]) -> Result<Types, Error> {
    if types.is_empty() && types_not.is_empty() {
        return Ok(Types::empty());
    }
    let mut builder = TypesBuilder::new();
    builder.add_defaults();
    for name in types {
        builder.select(name);
    }
    for name in types_not {
        builder.negate(name);
    }
    builder.build().map_err(|error| Error::Type(error.to_string()))
}
