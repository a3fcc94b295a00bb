//! True time on a line of columns, so that a wait of 90 s and an exchange of 5 ms can both be read.
//!
//! The axis keeps order, not proportion. Every moment something happens gets a column of its own if there is room;
//! the rest of the width goes to the stretches between them by the fourth root of their length: ten seconds are
//! wider than a millisecond, but by seven times and not by ten thousand. With more moments than columns, the ones
//! closest together share one, those that the list below the picture numbers last.

use doublehold_history::TrueNs;

/// Where each moment is drawn.
#[derive(Debug)]
pub(super) struct Axis {
    /// Groups of moments that share a column, in order: the first and last moment of each, and the column.
    groups: Vec<(TrueNs, TrueNs, usize)>,
    /// Stretches between neighbouring groups that were drawn much shorter than their share: first and last column.
    breaks: Vec<(usize, usize)>,
}

/// A stretch is marked as broken when it is drawn at less than one fourth of its share of the width.
const BREAK: u128 = 4;

impl Axis {
    /// Lays `moments` out on `width` columns. Those that are `numbered` are kept apart first.
    pub(super) fn new(mut moments: Vec<TrueNs>, numbered: &[TrueNs], width: usize) -> Axis {
        moments.extend_from_slice(numbered);
        moments.push(TrueNs(0));
        moments.sort_unstable();
        moments.dedup();
        // A third of the columns is for the stretches in between.
        let groups = group(&moments, numbered, width * 2 / 3);
        let gaps: Vec<u64> = groups.windows(2).map(|pair| pair[1].0.since(pair[0].1)).collect();
        let steps = share(&gaps, width.saturating_sub(1));
        let mut columns = vec![0];
        for step in &steps {
            columns.push(columns[columns.len() - 1] + step);
        }
        let breaks = breaks(&gaps, &steps, &columns);
        let groups =
            groups.iter().zip(columns).map(|(&(first, last), column)| (first, last, column)).collect();
        Axis { groups, breaks }
    }

    /// The column of a moment. One the axis was not built from stands in proportion between its neighbours.
    pub(super) fn column(&self, at: TrueNs) -> usize {
        let after = self.groups.partition_point(|&(_, last, _)| last < at);
        let Some(&(first, _, column)) = self.groups.get(after) else {
            return self.groups.last().map_or(0, |&(_, _, column)| column);
        };
        match after.checked_sub(1).map(|before| self.groups[before]) {
            Some((_, last, before)) if at < first => {
                let (part, whole) = (u128::from(at.since(last)), u128::from(first.since(last)));
                before + ((column - before) as u128 * part / whole.max(1)) as usize
            }
            _ => column,
        }
    }

    /// Stretches drawn much shorter than their share: first and last column.
    pub(super) fn breaks(&self) -> &[(usize, usize)] {
        &self.breaks
    }
}

/// First and last moment of each group: at most `room` groups, cut where the gaps are widest.
fn group(moments: &[TrueNs], numbered: &[TrueNs], room: usize) -> Vec<(TrueNs, TrueNs)> {
    let is_numbered = |at: TrueNs| numbered.contains(&at);
    let mut gaps: Vec<usize> = (1..moments.len()).collect();
    gaps.sort_by_key(|&gap| {
        let (before, after) = (moments[gap - 1], moments[gap]);
        std::cmp::Reverse((is_numbered(before) || is_numbered(after), after.since(before)))
    });
    gaps.truncate(room.saturating_sub(1));
    gaps.sort_unstable();
    let starts = std::iter::once(0).chain(gaps.iter().copied());
    let ends = gaps.iter().copied().chain([moments.len()]);
    starts.zip(ends).map(|(start, end)| (moments[start], moments[end - 1])).collect()
}

/// Shares `columns` among gaps: one each, the rest by the fourth root of their length.
fn share(gaps: &[u64], columns: usize) -> Vec<usize> {
    let weights: Vec<u64> = gaps.iter().map(|gap| (gap / 1_000).isqrt().isqrt().max(1)).collect();
    let total: u64 = weights.iter().sum();
    let spare = columns.saturating_sub(gaps.len()) as u64;
    let (mut sum, mut given) = (0, 0);
    let mut steps = Vec::with_capacity(gaps.len());
    for weight in weights {
        // Rounding the running sum instead of each part: the parts add up to the whole.
        sum += weight;
        let upto = spare * sum / total.max(1);
        steps.push(1 + (upto - given) as usize);
        given = upto;
    }
    steps
}

fn breaks(gaps: &[u64], steps: &[usize], columns: &[usize]) -> Vec<(usize, usize)> {
    let total: u128 = gaps.iter().map(|&gap| u128::from(gap)).sum();
    let width: u128 = steps.iter().map(|&step| step as u128).sum();
    let is_broken = |gap: u64, step: usize| u128::from(gap) * width > BREAK * total * step as u128;
    let stretches = gaps.iter().zip(steps).zip(columns.windows(2));
    stretches
        .filter(|((gap, step), _)| is_broken(**gap, **step))
        .map(|(_, ends)| (ends[0], ends[1]))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ms(times: &[u64]) -> Vec<TrueNs> {
        times.iter().map(|ms| TrueNs(ms * 1_000_000)).collect()
    }

    #[test]
    fn order_is_kept_and_every_moment_has_its_own_column_while_there_is_room() {
        let times = ms(&[0, 1, 2, 5, 90_000, 90_005, 90_006]);
        let axis = Axis::new(times.clone(), &[], 88);
        let columns: Vec<usize> = times.iter().map(|&at| axis.column(at)).collect();
        assert!(columns.is_sorted_by(|a, b| a < b), "{columns:?}");
        assert_eq!((columns[0], columns[6]), (0, 87));
    }

    #[test]
    fn ninety_idle_seconds_leave_room_for_five_milliseconds_and_are_marked_as_a_break() {
        let axis = Axis::new(ms(&[0, 1, 2, 3, 4, 90_000, 90_001, 90_002, 90_003, 90_004]), &[], 88);
        let (from, to) = (axis.column(ms(&[4])[0]), axis.column(ms(&[90_000])[0]));
        assert_eq!(
            axis.breaks(),
            [] as [(usize, usize); 0],
            "one stretch of 60 columns is no quarter of its share"
        );
        assert!(to - from < 88 - 8 * 2, "{from}..{to}");
        let many: Vec<u64> = (0..40).chain(90_000..90_040).collect();
        let axis = Axis::new(ms(&many), &[], 88);
        assert_eq!(axis.breaks().len(), 1);
    }

    #[test]
    fn numbered_moments_are_the_last_to_share_a_column() {
        let crowd: Vec<u64> = (0..1_000).map(|step| step * 10).collect();
        let numbered = ms(&[5_000, 5_010, 5_020]);
        let axis = Axis::new(ms(&crowd), &numbered, 72);
        let columns: Vec<usize> = numbered.iter().map(|&at| axis.column(at)).collect();
        assert!(columns.is_sorted_by(|a, b| a < b), "{columns:?}");
        assert!(axis.column(ms(&[9_990])[0]) < 72);
    }

    #[test]
    fn a_world_where_nothing_happened_still_has_an_axis() {
        let axis = Axis::new(Vec::new(), &[], 88);
        assert_eq!((axis.column(TrueNs(0)), axis.column(TrueNs(7))), (0, 0));
    }
}
