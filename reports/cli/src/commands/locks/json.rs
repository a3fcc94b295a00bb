//! A lock as JSON: all that its descriptor says, and of a library all that its profile does.

use doublehold_lockimpl::{Descriptor, Facts, Flaw, Newest, Nodes, Profile, Remedy, Switch, Switches, Value};
use serde::Serialize;

use super::scenario;

/// A lock as JSON.
#[derive(Serialize)]
pub(super) struct LockOutput {
    name: &'static str,
    meaning: &'static str,
    source: &'static str,
    /// `one`, `replicated` or `independent`.
    nodes: &'static str,
    /// As published; a switch may make it otherwise.
    facts: FactsOutput,
    switches: Vec<SwitchOutput>,
    /// `null` for a lock that is no library's.
    library: Option<LibraryOutput>,
    /// A scenario file that runs.
    scenario: String,
}

#[derive(Serialize)]
struct FactsOutput {
    deadline: bool,
    fencing: bool,
    extends: bool,
    waits: bool,
    renews: bool,
    readmits: bool,
    /// `null` if nobody knows.
    sends: Option<CommandsOutput>,
}

#[derive(Serialize)]
struct CommandsOutput {
    to_hold: Vec<&'static str>,
    to_extend: Vec<&'static str>,
}

#[derive(Serialize)]
struct SwitchOutput {
    name: &'static str,
    meaning: &'static str,
    takes: String,
    /// The words among what it takes.
    words: Vec<&'static str>,
    /// As a scenario file writes it, without quotes; `null` if there is none unless somebody says.
    default: Option<String>,
    needs: Option<&'static str>,
}

impl LockOutput {
    pub(super) fn new(lock: &Descriptor) -> LockOutput {
        let Facts { sends, extends, deadline, fencing, waits, renews, readmits } =
            lock.facts(&Switches::new());
        let sends = sends.map(|sends| CommandsOutput { to_hold: sends.to_hold, to_extend: sends.to_extend });
        LockOutput {
            name: lock.name,
            meaning: lock.meaning,
            source: lock.source,
            nodes: match lock.nodes {
                Nodes::One => "one",
                Nodes::Replicated => "replicated",
                Nodes::Independent => "independent",
            },
            facts: FactsOutput { deadline, fencing, extends, waits, renews, readmits, sends },
            switches: lock.switches.iter().map(SwitchOutput::new).collect(),
            library: lock.profile.map(|(profile, engine)| LibraryOutput::new(profile, engine)),
            scenario: scenario(lock),
        }
    }
}

impl SwitchOutput {
    fn new(switch: &Switch) -> SwitchOutput {
        SwitchOutput {
            name: switch.name,
            meaning: switch.meaning,
            takes: switch.takes(),
            words: switch.words.clone(),
            default: switch.default.as_ref().map(Value::to_string),
            needs: switch.needs,
        }
    }
}

/// What is known of a library.
#[derive(Serialize)]
struct LibraryOutput {
    name: &'static str,
    also: &'static [&'static str],
    language: &'static str,
    version: &'static str,
    files: &'static str,
    read_on: &'static str,
    /// The newest version when somebody looked; `null` if nobody did.
    newest: Option<NewestOutput>,
    engine: &'static str,
    /// As a scenario file writes it; `null` if the library asks for one, or sets no end.
    ttl: Option<String>,
    /// The switches of the engine as the library has them, those that it leaves open included.
    fixed: Vec<SettingOutput>,
    flaws: Vec<FlawOutput>,
    left_out: &'static [&'static str],
}

#[derive(Serialize)]
struct NewestOutput {
    version: &'static str,
    looked_up_on: &'static str,
}

impl NewestOutput {
    fn new(Newest { version, looked_up_on }: Newest) -> Self {
        Self { version, looked_up_on }
    }
}

/// A switch of the engine, and how the library has it.
#[derive(Serialize)]
struct SettingOutput {
    switch: String,
    value: String,
}

impl SettingOutput {
    fn new((switch, value): (&str, &Value)) -> Self {
        Self { switch: switch.to_owned(), value: value.to_string() }
    }
}

#[derive(Serialize)]
struct FlawOutput {
    what: &'static str,
    scenario: &'static str,
    repaired: &'static str,
    option: Option<&'static str>,
    code: Option<&'static str>,
}

impl LibraryOutput {
    fn new(profile: &Profile, engine: &'static str) -> Self {
        let flaw = |flaw: &Flaw| {
            let Flaw { what, scenario, repaired, remedy } = *flaw;
            let (option, code) = match remedy {
                Remedy::Option(option) => (Some(option), None),
                Remedy::Code(code) => (None, Some(code)),
                Remedy::Authors => (None, None),
            };
            FlawOutput { what, scenario, repaired, option, code }
        };
        let fixed = (profile.fixed)();
        Self {
            name: profile.library,
            also: profile.also,
            language: profile.language,
            version: profile.version,
            files: profile.files,
            read_on: profile.read_on,
            newest: profile.newest.map(NewestOutput::new),
            engine,
            ttl: profile.ttl.map(|ttl| Value::from(ttl).to_string()),
            fixed: fixed.iter().map(SettingOutput::new).collect(),
            flaws: profile.flaws.iter().map(flaw).collect(),
            left_out: profile.left_out,
        }
    }
}
