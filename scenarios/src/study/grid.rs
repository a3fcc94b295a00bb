//! The grid of a study: its axes in the order in which they were typed, which is that of curves, rows and columns in
//! reports.

use std::collections::BTreeSet;

use doublehold_history::words::shorten;

use super::{Axis, Design, parameters};
use crate::format::problem::Result;
use crate::format::section::{Field, Section};
use crate::format::tree::keys_as_typed;

const AXES_MAX: usize = 8;
const VALUES_MAX: usize = 10_000;

/// Reads `[grid]`.
pub(super) fn axes(root: &Section<'_>, text: &str, designs: &[Design]) -> Result<Vec<Axis>> {
    let mut fields = root.section("grid", &[])?.fields();
    let typed = keys_as_typed(text, "grid");
    fields.sort_by_key(|(key, _)| typed.iter().position(|it| it == key));
    if let Some(grid) = root.get("grid")
        && fields.is_empty()
    {
        let hint = "add a parameter with its values, such as `\"lock.ttl\" = [\"1s\", \"10s\"]`, or leave `[grid]` out";
        return Err(grid.problem("the grid is empty", hint));
    }
    if fields.len() > AXES_MAX {
        let cause = format!("the grid has {} parameters, and the limit is {AXES_MAX}", fields.len());
        return Err(root.problem(cause, "make two studies"));
    }
    fields.into_iter().map(|(key, field)| axis(key, &field, designs)).collect()
}

fn axis(key: &str, field: &Field<'_>, designs: &[Design]) -> Result<Axis> {
    designs.iter().try_for_each(|design| parameters::check(&design.base, key, field, &design.name))?;
    let items = field.items("a list of values")?;
    let hint = "list at least one value, such as `[\"1s\", \"10s\"]`, or leave the parameter out";
    if items.is_empty() {
        return Err(field.problem(format!("the grid is empty: `{key}` has no values"), hint));
    }
    if items.len() > VALUES_MAX {
        let cause = format!("`{key}` has {} values, and the limit is {VALUES_MAX}", items.len());
        return Err(field.problem(cause, "take fewer: a picture shows some dozens"));
    }
    let values: Vec<String> = items.iter().map(|item| item.node().shown()).collect();
    let mut seen = BTreeSet::new();
    if let Some(twice) = values.iter().position(|value| !seen.insert(value)) {
        let cause = format!("`{key}` has the value `{}` twice", shorten(&values[twice]));
        return Err(items[twice].problem(cause, "take one of them out"));
    }
    Ok(Axis { key: key.to_owned(), values, nodes: items.iter().map(|item| item.node().clone()).collect() })
}
