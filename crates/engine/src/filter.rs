//! Which entries the walk lets through: the globs, rules, types and hidden names of a query.

use std::sync::Arc;

use ignore::gitignore::Gitignore;
use ignore::overrides::Override;
use ignore::types::Types;

use crate::globs::path_of;
use crate::ignore::{Rules, Verdict, judge};
use crate::query::{IgnoreFlavour, Kind};
use crate::scope::Bounds;

/// Which entries a walk lets through; the same for all roots.
pub(crate) struct Filter {
    pub(crate) overrides: Override,
    pub(crate) types: Types,
    pub(crate) ignore: IgnoreFlavour,
    pub(crate) global: Gitignore,
    pub(crate) hidden: bool,
    pub(crate) depth: usize,
    /// What is listed; only files where something is searched for.
    pub(crate) kinds: Vec<Kind>,
}

/// An entry that a listing showed.
pub(crate) struct Entry<'e> {
    pub(crate) name: &'e [u8],
    /// Its path as the search root was spelled.
    pub(crate) spelled: &'e [u8],
    /// Its path without links.
    pub(crate) real: &'e [u8],
    pub(crate) is_folder: bool,
}

impl Filter {
    /// Whether entries of a kind are wanted.
    pub(crate) fn wants(&self, kind: Kind) -> bool {
        self.kinds.contains(&kind)
    }

    /// Whether an entry is let through, given the rules of its folder: globs first, which
    /// overrule; then ignore rules, then types, then hidden names.
    pub(crate) fn passes(
        &self,
        entry: &Entry<'_>,
        rules: &Option<Arc<Rules>>,
        bounds: &Bounds,
    ) -> bool {
        let Entry { name, spelled, real, is_folder } = *entry;
        if bounds.denies() && bounds.is_denied(real, is_folder) {
            return false;
        }
        if !self.overrides.is_empty() {
            let found = self.overrides.matched(path_of(spelled), is_folder);
            if !found.is_none() {
                return found.is_whitelist();
            }
        }
        let mut kept = false;
        if self.ignore == IgnoreFlavour::Git {
            match judge(rules, &self.global, real, spelled, is_folder) {
                Verdict::Ignored => return false,
                Verdict::Kept => kept = true,
                Verdict::None => {}
            }
        }
        if !self.types.is_empty() {
            let found = self.types.matched(path_of(name), is_folder);
            if found.is_ignore() {
                return false;
            }
            kept |= found.is_whitelist();
        }
        kept || self.hidden || !name.starts_with(b".")
    }
}
