//! Page: skip, cut, say whether more remain. Hits arrive in their order.

use crate::query::{Hit, Page, Unit};

/// How many hits decide a page, and whether there are more behind it; `None` for all.
pub(crate) fn deciding(page: &Page) -> Option<u64> {
    // In lines, too: a hit has at least one.
    page.limit.map(|limit| page.offset.saturating_add(limit).saturating_add(1))
}

/// Cuts the page out of the hits, and says whether any remain behind it. `before` and `after`
/// are the lines of context that go with a match.
pub(crate) fn cut(hits: Vec<Hit>, page: &Page, before: usize, after: usize) -> (Vec<Hit>, bool) {
    match page.unit {
        Unit::Files => cut_files(hits, page),
        Unit::Lines => cut_lines(hits, page, before as u64, after as u64),
    }
}

fn cut_files(mut hits: Vec<Hit>, page: &Page) -> (Vec<Hit>, bool) {
    let offset = usize::try_from(page.offset).unwrap_or(usize::MAX).min(hits.len());
    hits.drain(..offset);
    let limit = page.limit.map_or(usize::MAX, |limit| usize::try_from(limit).unwrap_or(usize::MAX));
    let more = hits.len() > limit;
    hits.truncate(limit);
    (hits, more)
}

fn cut_lines(hits: Vec<Hit>, page: &Page, before: u64, after: u64) -> (Vec<Hit>, bool) {
    let end = page.limit.map_or(u64::MAX, |limit| page.offset.saturating_add(limit));
    let mut passed = 0;
    let mut kept = Vec::new();
    for mut hit in hits {
        let mut numbers = Vec::new();
        for line in hit.lines.iter().filter(|line| line.is_match) {
            if passed >= page.offset && passed < end {
                numbers.push(line.number);
            }
            passed += 1;
        }
        if numbers.is_empty() {
            continue;
        }
        let near = |number: u64| {
            numbers.iter().any(|&at| number + before >= at && number <= at.saturating_add(after))
        };
        hit.lines.retain(|line| match line.is_match {
            true => numbers.binary_search(&line.number).is_ok(),
            false => near(line.number),
        });
        hit.count = hit.count.map(|_| numbers.len() as u64);
        kept.push(hit);
    }
    (kept, passed > end)
}
