//! Page: skip, cut, say whether more remain. Hits arrive in their order.

use crate::query::{Hit, Page, Unit};

/// How many hits decide a page, and whether there are more behind it; `None` for all.
pub(crate) fn deciding(page: &Page) -> Option<u64> {
    // In lines, too: a hit has at least one.
    page.limit.map(|limit| page.offset.saturating_add(limit).saturating_add(1))
}

/// The most matching lines that are taken from one file.
pub(crate) fn lines_of_one_file(page: &Page) -> Option<u64> {
    match page.unit {
        Unit::Files => page.per_file,
        Unit::Lines => page.per_file.into_iter().chain(deciding(page)).min(),
    }
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
    let mut passed: u64 = 0;
    let mut kept = Vec::new();
    for mut hit in hits {
        let mut numbers = Vec::new();
        let within = |passed: u64| (page.offset..end).contains(&passed);
        // A hit without lines, a named binary file, counts as one.
        if !hit.lines.iter().any(|line| line.is_match) {
            if within(passed) {
                kept.push(hit);
            }
            passed += 1;
            continue;
        }
        for line in hit.lines.iter().filter(|line| line.is_match) {
            if within(passed) {
                numbers.push(line.number);
            }
            passed += 1;
        }
        if numbers.is_empty() {
            continue;
        }
        // A match behind the page that stands near one within it is its context.
        hit.lines.retain_mut(|line| {
            line.is_match &= numbers.binary_search(&line.number).is_ok();
            line.is_match || is_near(&numbers, line.number, before, after)
        });
        hit.count = hit.count.map(|_| numbers.len() as u64);
        kept.push(hit);
    }
    (kept, passed > end)
}

/// Whether a line belongs to the context of one of the matches, which are in order.
fn is_near(matches: &[u64], number: u64, before: u64, after: u64) -> bool {
    let next = matches.partition_point(|&at| at < number);
    let follows = next > 0 && number <= matches[next - 1].saturating_add(after);
    let precedes = matches.get(next).is_some_and(|&at| number.saturating_add(before) >= at);
    follows || precedes
}
