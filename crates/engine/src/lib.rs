//! The search engine under evergrep: plain queries in, plain answers out.
//!
//! `query` is the vocabulary and `search` the recipe; read these two first. The recipe has five
//! steps, each in the file of its name or nearly so:
//!
//! - resolve: `scope` opens the roots, and everything else, without ever leaving what is allowed;
//! - gather: `walk` visits the files that `filter` lets through, by `ignore`, `globs` and `types`;
//! - order: `order` says which file comes first, before any is read where the page allows it;
//! - match: `hunt` opens, `seek` searches what `read` brings for what `pattern` compiled, `lines`
//!   takes what is found; `late` does it in order;
//! - page: `page` skips and cuts.
//!
//! `gathered` is what the threads bring together, `halt` the deadline and the caller's flag, and
//! `stoppable` keeps matching within them. Nothing here knows Python, a tool or an agent.

pub mod error;
pub mod halt;
pub mod query;

mod filter;
mod gathered;
mod globs;
mod hunt;
mod ignore;
mod late;
mod lines;
mod order;
mod page;
mod pattern;
mod read;
mod scope;
mod search;
mod seek;
mod stoppable;
mod types;
mod walk;

pub use halt::Cancel;
pub use scope::Scope;
pub use search::{search, stat};
