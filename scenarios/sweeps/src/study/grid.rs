//! The grid of a study: its axes in the order in which they were typed, which is that of curves, rows and columns in
//! reports.

use doublehold_scenarios::format::problem::Result;
use doublehold_scenarios::format::section::{Field, Section};
use doublehold_scenarios::format::tree::{Item, ItemValue, keys_as_typed};
use doublehold_scenarios::format::units;
use doublehold_text::shorten;

use super::{Axis, Design, parameters};

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
    let values: Vec<String> = items.iter().map(|item| item.node().plain_text()).collect();
    let meant: Vec<String> = items.iter().map(|item| canonical_text(item.node())).collect();
    let twin = |place: usize| meant[..place].iter().position(|value| *value == meant[place]);
    if let Some((first, second)) = (0..meant.len()).find_map(|place| Some((twin(place)?, place))) {
        let (first, shown) = (shorten(&values[first]), shorten(&values[second]));
        let same = if shown == first { String::new() } else { format!(": once as `{shown}`") };
        let cause = format!("`{key}` has the value `{first}` twice{same}");
        return Err(items[second].problem(cause, "take one of them out"));
    }
    Ok(Axis { key: key.to_owned(), values, nodes: items.iter().map(|item| item.node().clone()).collect() })
}

/// A value in one spelling: `1000ms` and `1s` are the same point of an axis.
fn canonical_text(value: &Item) -> String {
    let text = match &value.value {
        ItemValue::Text(text) => units::normalize_spelling(text),
        ItemValue::List(items) => return items.iter().map(canonical_text).collect::<Vec<_>>().join(", "),
        ItemValue::Table(table) => {
            let pairs = table.iter().map(|(key, value)| format!("{key} = {}", canonical_text(value)));
            return pairs.collect::<Vec<_>>().join(", ");
        }
        ItemValue::Integer(_) | ItemValue::Flag(_) => None,
    };
    text.unwrap_or_else(|| value.toml())
}
