//! What is known of a library, for people: what was read, how it is set, what is wrong with it and what is not in it.

use doublehold_lockimpl::{Descriptor, Flaw, Newest, Profile, Remedy, Value};
use doublehold_render::layout::wrap;
use doublehold_render::style::{Paint, Style};
use doublehold_text::list;

/// The languages for which there are libraries, in alphabetical order.
pub(super) fn languages(locks: &[Descriptor]) -> Vec<&'static str> {
    let languages = locks.iter().filter_map(|lock| lock.profile);
    let mut languages: Vec<&str> = languages.map(|(profile, _)| profile.language).collect();
    languages.sort_by_key(|language| language.to_lowercase());
    languages.dedup();
    languages
}

/// The part of a lock's page that other locks do not have.
pub(super) fn page(profile: &Profile, engine: &str, style: &Style) -> String {
    let Profile { library, language, version, read_on, also, .. } = profile;
    let mut lines = vec![format!("library: {library} {version} ({language}), read on {read_on}")];
    lines.push(format!("newest version: {}", newest(profile)));
    if !also.is_empty() {
        lines.push(format!("also found as: {}", also.join(", ")));
    }
    lines.push(format!("its lease: {}", lease(profile)));
    lines.push(format!("its driver: {}", driver(profile)));
    lines.push(format!("a setting of `{engine}`, with {}", settings(profile)));
    let mut text: String = lines.iter().map(|line| wrap(line, "  ", "    ", style.width)).collect();
    text += &part("Known flaws:", flaws(profile), style);
    text += &part("Not modelled:", profile.left_out.iter().map(|it| (*it).to_owned()).collect(), style);
    text
}

/// The driver of a library, what it does by default, and what the library sets otherwise.
pub(super) fn driver(profile: &Profile) -> String {
    let Some(driver) = profile.driver() else {
        return "none of those that the switch `driver` names".to_owned();
    };
    let own = match &profile.beside_driver()[..] {
        [] => String::new(),
        own => format!("; the library sets {}", list(own)),
    };
    format!("`{}`, which {}{own} (read in {})", driver.name, driver.words(), driver.files)
}

/// The version that was newest, and whether it is the one that was read.
pub(super) fn newest(profile: &Profile) -> String {
    match profile.newest {
        None => "not looked up".to_owned(),
        Some(Newest { version, looked_up_on }) if version == profile.version => {
            format!("{version}, looked up on {looked_up_on}: the one that was read")
        }
        Some(Newest { version, looked_up_on }) => {
            format!("{version}, looked up on {looked_up_on}: it was not read")
        }
    }
}

/// The lease that it takes if its user says nothing.
pub(super) fn lease(profile: &Profile) -> String {
    let ends = (profile.fixed)().get("expiry").is_none_or(|expiry| expiry.to_string() != "none");
    match profile.ttl {
        Some(ttl) => Value::from(ttl).to_string(),
        None if ends => "as long as its user says".to_owned(),
        None => "none, so that the key stays until somebody deletes it, unless its user gives it an end"
            .to_owned(),
    }
}

/// How the engine's switches stand, with a mark at those that can be changed.
fn settings(profile: &Profile) -> String {
    let fixed = (profile.fixed)();
    let setting = |(switch, value): (&str, &Value)| {
        let open = if profile.open.contains(&switch) { " (can be set)" } else { "" };
        format!("{switch} = {value}{open}")
    };
    let settings: Vec<String> = fixed.iter().map(setting).collect();
    if settings.is_empty() { "every switch as published".to_owned() } else { settings.join(", ") }
}

fn flaws(profile: &Profile) -> Vec<String> {
    let line = |flaw: &Flaw| {
        let remedy = match flaw.remedy {
            Remedy::Option(option) => format!(" You can change it by the option `{option}`."),
            Remedy::Code(code) => format!(" Your code can avoid it: {code}"),
            Remedy::Authors => String::new(),
        };
        format!(
            "{}.{remedy} See it: doublehold run {}; without it: doublehold run {}",
            flaw.what.trim_end_matches('.'),
            flaw.scenario,
            flaw.repaired
        )
    };
    profile.flaws.iter().map(line).collect()
}

fn part(title: &str, lines: Vec<String>, style: &Style) -> String {
    if lines.is_empty() {
        return String::new();
    }
    let mut text = format!("\n{}\n", style.paint(title, Paint::Strong));
    for line in lines {
        text += &wrap(&line, "  - ", "    ", style.width);
    }
    text
}
