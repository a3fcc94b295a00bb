//! A scenario's file in a few words, for people who have never seen one.
//!
//! Reads TOML and not scenarios: a page shows what was written, also where another version wrote it. What is not there
//! is left out.

use toml::{Table, Value};

use super::parameter;

/// What a reader wants to know of a world.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct World {
    pub(crate) nodes: String,
    pub(crate) clients: String,
    pub(crate) program: String,
    pub(crate) ttl: String,
    pub(crate) retry: String,
    pub(crate) delay: String,
}

impl World {
    pub(crate) fn from_toml(text: &str) -> World {
        let Ok(file) = text.parse::<Table>() else { return World::default() };
        let clients = file.get("clients").and_then(Value::as_array).cloned().unwrap_or_default();
        let first = clients.first().cloned().unwrap_or(Value::Table(Table::new()));
        let of_first = |key: &str| first.get(key).map(words).unwrap_or_default();
        let rounds = match of_first("rounds").as_str() {
            "" | "1" => String::new(),
            rounds => format!(", {rounds} rounds each"),
        };
        World {
            nodes: nodes(&file),
            clients: format!("{}{rounds}", clients.len()),
            program: of_first("program"),
            ttl: at(&file, &["lock", "ttl"]),
            retry: of_first("retry"),
            delay: at(&file, &["network", "delay"]),
        }
    }
}

impl World {
    /// All of it, in the order of its fields.
    pub(crate) fn facts(self) -> [String; 6] {
        [self.nodes, self.clients, self.program, self.ttl, self.retry, self.delay]
    }
}

fn nodes(file: &Table) -> String {
    let names = file.get("nodes").and_then(|nodes| nodes.get("names")).and_then(Value::as_array);
    let count = names.map_or(0, Vec::len);
    let master = at(file, &["nodes", "master"]);
    let persistence = at(file, &["nodes", "persistence"]);
    let kept = match persistence.as_str() {
        "" | "none" => ", nothing on disk".to_owned(),
        kept => format!(", persistence {kept}"),
    };
    if master.is_empty() { format!("{count}{kept}") } else { format!("{count}, master {master}{kept}") }
}

fn at(file: &Table, path: &[&str]) -> String {
    let (first, rest) = (path[0], &path[1..]);
    let value = rest.iter().try_fold(file.get(first), |value, key| Some(value?.get(*key)));
    value.flatten().map(words).unwrap_or_default()
}

/// True if a world's weather claims that its rates are those of the field.
pub(crate) fn claims_field(text: &str) -> bool {
    text.parse::<Table>().is_ok_and(|file| at(&file, &["weather", "claims"]) == "field")
}

/// True if a service takes the place of Redis nodes in a world.
pub(crate) fn has_service(text: &str) -> bool {
    text.parse::<Table>().is_ok_and(|file| file.contains_key("service"))
}

/// Which part of its lease a lock gives up for clocks that run at different rates.
pub(crate) fn drift_allowance(text: &str) -> Option<f64> {
    let file = text.parse::<Table>().ok()?;
    let ratio = parameter::ratio(&at(&file, &["lock", "drift_ratio"]))?;
    let constant = parameter::duration(&at(&file, &["lock", "drift_constant"])).unwrap_or(0.0);
    let ttl = parameter::duration(&at(&file, &["lock", "ttl"])).filter(|ttl| *ttl > 0.0)?;
    Some(ratio + constant / ttl)
}

/// A value as people write it.
fn words(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        Value::Array(items) => items.iter().map(words).collect::<Vec<_>>().join(", "),
        Value::Table(law) => match (law.get("median"), law.get("sigma")) {
            (Some(median), Some(sigma)) => {
                format!("a median of {} (log-normal, sigma {})", words(median), words(sigma))
            }
            _ => law
                .iter()
                .map(|(key, value)| format!("{key} {}", words(value)))
                .collect::<Vec<_>>()
                .join(", "),
        },
        other => other.to_string(),
    }
}

/// What a weather's line says of whom it strikes, and how.
pub(crate) fn fault_words(rest: &[(String, String)]) -> String {
    let read = |text: &str| -> String {
        let parsed = format!("x = {text}").parse::<Table>().ok();
        parsed.and_then(|table| table.get("x").map(words)).unwrap_or_else(|| text.to_owned())
    };
    let find = |wanted: &str| rest.iter().find(|(key, _)| key == wanted).map(|(_, value)| read(value));
    let first = [("host", "on "), ("from", "from "), ("to", "to ")];
    let second = [("for", "for "), ("by", "by "), ("probability", "with probability ")];
    let said = |keys: &[(&str, &str)], between: &str| -> String {
        let parts = keys.iter().filter_map(|(key, before)| Some(format!("{before}{}", find(key)?)));
        parts.collect::<Vec<_>>().join(between)
    };
    let known = ["host", "from", "to", "for", "by", "probability", "sign", "both_ways", "either_way"];
    let others = rest.iter().filter(|(key, _)| !known.contains(&key.as_str()));
    let mut parts = vec![said(&first, " "), said(&second, ", ")];
    parts.extend(find("sign").map(|sign| if sign == "either" { "either way".to_owned() } else { sign }));
    parts.push(ways(find("both_ways").as_deref(), find("either_way").as_deref()).to_owned());
    parts.extend(others.map(|(key, value)| format!("{} {}", key.replace('_', " "), read(value))));
    parts.retain(|part| !part.is_empty());
    parts.join("; ")
}

/// The directions in which a fault of links strikes, in words. Records that do not say are of versions that drew every
/// such fault either way round.
fn ways(both_ways: Option<&str>, either_way: Option<&str>) -> &'static str {
    match (both_ways, either_way) {
        (Some("true"), _) => "both ways",
        (Some(_), Some("false")) | (None, Some("false")) => "as written, never the other way round",
        (Some(_), _) => "either way round, half of them both ways",
        (None, Some(_)) => "either way round",
        (None, None) => "",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_world_is_told_in_words() {
        let text = "[[clients]]\nprogram = [\"acquire\", \"work 1s\"]\nretry = \"1s..3s\"\nrounds = 2\n[[clients]]\n\
                    [lock]\nttl = \"4s\"\n[network]\ndelay = { median = \"1ms\", sigma = \"1/2\" }\n\
                    [nodes]\nnames = [\"M\", \"R1\"]\nmaster = \"M\"\npersistence = \"everysec\"\n";
        let world = World::from_toml(text);
        assert_eq!(world.nodes, "2, master M, persistence everysec");
        assert_eq!(world.clients, "2, 2 rounds each");
        assert_eq!(world.program, "acquire, work 1s");
        assert_eq!((world.ttl.as_str(), world.retry.as_str()), ("4s", "1s..3s"));
        assert_eq!(world.delay, "a median of 1ms (log-normal, sigma 1/2)");
    }

    #[test]
    fn what_is_no_world_has_no_words_and_does_no_harm() {
        for text in
            ["", "<script>", "[nodes]\nnames = 3", "clients = \"x\"", "[lock]\nttl = [[]]", "network = 1"]
        {
            World::from_toml(text);
        }
        assert_eq!(World::from_toml("nonsense ="), World::default());
    }

    #[test]
    fn a_fault_is_told_in_words() {
        let pair = |key: &str, value: &str| (key.to_owned(), value.to_owned());
        let rest = [
            pair("both_ways", "false"),
            pair("for", "{ median = \"5s\", sigma = \"2/2\" }"),
            pair("from", "[\"clients\"]"),
            pair("to", "[\"nodes\", \"resource\"]"),
            pair("torn_tail", "false"),
        ];
        assert_eq!(
            fault_words(&rest),
            "from clients to nodes, resource; for a median of 5s (log-normal, sigma 2/2); either way round, half of them both ways; torn tail false"
        );
        assert_eq!(fault_words(&[pair("by", "1/2000"), pair("sign", "either")]), "by 1/2000; either way");
    }
}
