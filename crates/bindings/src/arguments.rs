//! Reads the JSON text of a call's arguments as serde_json would read it into a derived struct.
//!
//! The fields come as data, so that no tool needs Rust code of its own. Why not simply a map: the
//! messages, their line and column, and what is forgiven (an array for a struct, unknown fields)
//! come out of serde's visiting order, so the visitors here do what `derive(Deserialize)` writes.

use std::fmt;

use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyTuple;
use serde::Deserialize;
use serde::de::{DeserializeSeed, Deserializer, Error, IgnoredAny, MapAccess, SeqAccess, Visitor};

/// What a field takes, and whether it may be absent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// `String`, required.
    Text,
    /// `Option<String>` with a default: absent and null are the same.
    OptionalText,
    /// `usize` with a default: may be absent, but not null.
    OptionalNumber,
}

impl Kind {
    fn named(name: &str) -> Option<Self> {
        match name {
            "string" => Some(Self::Text),
            "string?" => Some(Self::OptionalText),
            "usize?" => Some(Self::OptionalNumber),
            _ => None,
        }
    }
}

/// What was read for a field.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Value {
    /// Nothing, or the null that a field takes for nothing.
    Absent,
    /// A string.
    Text(String),
    /// A whole number.
    Number(usize),
}

impl<'py> IntoPyObject<'py> for Value {
    type Target = PyAny;
    type Output = Bound<'py, PyAny>;
    type Error = PyErr;

    fn into_pyobject(self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        Ok(match self {
            Self::Absent => py.None().into_bound(py),
            Self::Text(text) => text.into_pyobject(py)?.into_any(),
            Self::Number(number) => number.into_pyobject(py)?.into_any(),
        })
    }
}

/// Read JSON text as serde_json reads it into a struct; the contract is in `_engine.pyi`.
#[pyfunction]
pub fn read_arguments<'py>(
    py: Python<'py>,
    text: &[u8],
    name: &str,
    fields: Vec<(String, String)>,
) -> PyResult<Bound<'py, PyTuple>> {
    let fields = fields
        .into_iter()
        .map(|(field, kind)| match Kind::named(&kind) {
            Some(kind) => Ok((field, kind)),
            None => Err(PyValueError::new_err(format!("no kind is called {kind:?}"))),
        })
        .collect::<PyResult<Vec<_>>>()?;
    let values = py.detach(|| read(text, name, &fields)).map_err(PyValueError::new_err)?;
    PyTuple::new(py, values)
}

/// Read `text` into the struct `name` with these fields, in their order of declaration.
///
/// # Errors
/// serde_json's own message, with line and column.
pub fn read(text: &[u8], name: &str, fields: &[(String, Kind)]) -> Result<Vec<Value>, String> {
    let structure = Structure { name, fields };
    // `from_str` and `from_slice` differ in nothing but the check for UTF-8, which text from a
    // caller has behind it already; bytes that fail it get the message of `from_slice`.
    let read = match std::str::from_utf8(text) {
        Ok(text) => to_the_end(serde_json::Deserializer::from_str(text), structure),
        Err(_) => to_the_end(serde_json::Deserializer::from_slice(text), structure),
    };
    read.map_err(|error| error.to_string())
}

fn to_the_end<'de, R: serde_json::de::Read<'de>>(
    mut input: serde_json::Deserializer<R>,
    structure: Structure<'_>,
) -> serde_json::Result<Vec<Value>> {
    let values = structure.deserialize(&mut input)?;
    input.end()?;
    Ok(values)
}

#[derive(Clone, Copy)]
struct Structure<'a> {
    name: &'a str,
    fields: &'a [(String, Kind)],
}

impl fmt::Display for Structure<'_> {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "struct {}", self.name)
    }
}

impl<'de> DeserializeSeed<'de> for Structure<'_> {
    type Value = Vec<Value>;

    fn deserialize<D: Deserializer<'de>>(self, input: D) -> Result<Vec<Value>, D::Error> {
        // serde_json looks at neither name nor fields here; only static text would be taken.
        input.deserialize_struct("", &[], self)
    }
}

impl<'de> Visitor<'de> for Structure<'_> {
    type Value = Vec<Value>;

    fn expecting(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "{self}")
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Vec<Value>, A::Error> {
        let mut values = Vec::with_capacity(self.fields.len());
        for (position, (_, kind)) in self.fields.iter().enumerate() {
            match items.next_element_seed(*kind)? {
                Some(value) => values.push(value),
                None if *kind == Kind::Text => {
                    let count = self.fields.len();
                    let plural = if count == 1 { "" } else { "s" };
                    let expected = format!("{self} with {count} element{plural}");
                    return Err(A::Error::invalid_length(position, &expected.as_str()));
                }
                None => values.push(Value::Absent),
            }
        }
        Ok(values)
    }

    fn visit_map<A: MapAccess<'de>>(self, mut members: A) -> Result<Vec<Value>, A::Error> {
        let mut values: Vec<Option<Value>> = vec![None; self.fields.len()];
        while let Some(known) = members.next_key_seed(FieldName(self.fields))? {
            let Some(position) = known else {
                members.next_value::<IgnoredAny>()?;
                continue;
            };
            let (name, kind) = &self.fields[position];
            if values[position].is_some() {
                return Err(A::Error::custom(format_args!("duplicate field `{name}`")));
            }
            values[position] = Some(members.next_value_seed(*kind)?);
        }
        self.fields
            .iter()
            .zip(values)
            .map(|((name, kind), value)| match value {
                Some(value) => Ok(value),
                None if *kind == Kind::Text => {
                    Err(A::Error::custom(format_args!("missing field `{name}`")))
                }
                None => Ok(Value::Absent),
            })
            .collect()
    }
}

/// The position of the field that a key names, if any does.
struct FieldName<'a>(&'a [(String, Kind)]);

impl<'de> DeserializeSeed<'de> for FieldName<'_> {
    type Value = Option<usize>;

    fn deserialize<D: Deserializer<'de>>(self, input: D) -> Result<Option<usize>, D::Error> {
        input.deserialize_identifier(self)
    }
}

impl Visitor<'_> for FieldName<'_> {
    type Value = Option<usize>;

    fn expecting(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str("field identifier")
    }

    fn visit_str<E: Error>(self, key: &str) -> Result<Option<usize>, E> {
        Ok(self.0.iter().position(|(name, _)| name == key))
    }
}

impl<'de> DeserializeSeed<'de> for Kind {
    type Value = Value;

    fn deserialize<D: Deserializer<'de>>(self, input: D) -> Result<Value, D::Error> {
        match self {
            Self::Text => String::deserialize(input).map(Value::Text),
            Self::OptionalText => Option::<String>::deserialize(input)
                .map(|text| text.map_or(Value::Absent, Value::Text)),
            Self::OptionalNumber => usize::deserialize(input).map(Value::Number),
        }
    }
}
