//! Other rates of faults for results that are there: from `weather.pause.every=6h` to the factors of causes, and the
//! header as a reader is to see it.

use std::str::FromStr;
use std::time::Duration;

use doublehold_scenarios::format;
use doublehold_scenarios::weather::LineName;
use doublehold_text::{shorten, suggest};
use thiserror::Error;

use super::Results;
use super::reweigh::{Factors, ReweighError};
use crate::sweep::{DesignHeader, StudyHeader, WeatherLine};

/// A rate to be put in the place of a study's own: `weather.pause.every=6h`.
#[derive(Clone, Debug, PartialEq)]
pub struct RateChange {
    /// The kind of fault, or the name of a line.
    pub fault: String,
    /// The rate.
    pub rate: NewRate,
    /// The value as typed.
    typed: String,
}

/// A rate at which a fault is to come.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum NewRate {
    /// Once in so long on each host or way.
    Every(Duration),
    /// So many times as often as in the study; never, if it is zero.
    Times(f64),
}

/// A rate that cannot be put in.
#[derive(Clone, Debug, PartialEq, Error)]
pub enum RateError {
    /// It cannot be read.
    #[error("{cause}\nhint: {hint}")]
    Refused {
        /// What is wrong.
        cause: String,
        /// The way out.
        hint: String,
    },
    /// The results do not support it.
    #[error(transparent)]
    Reweigh(#[from] ReweighError),
}

fn refused<T>(cause: impl Into<String>, hint: impl Into<String>) -> Result<T, RateError> {
    Err(RateError::Refused { cause: cause.into(), hint: hint.into() })
}

/// Reads `weather.pause.every=6h`, `weather.crash[nodes].every=5x`, or `weather.promote.every=never`.
///
/// ```
/// use doublehold_sweeps::results::{NewRate, RateChange};
///
/// let change: RateChange = "weather.pause.every=5x".parse().expect("it is right");
/// assert_eq!((change.fault.as_str(), change.rate), ("pause", NewRate::Times(5.0)));
/// ```
impl FromStr for RateChange {
    type Err = RateError;

    fn from_str(text: &str) -> Result<RateChange, RateError> {
        const FORM: &str =
            "write it as `weather.pause.every=6h`, or `=5x` for five times as often, or `=never`";
        let fault = |key: &str| Some(key.strip_prefix("weather.")?.strip_suffix(".every")?.to_owned());
        let Some((fault, typed)) =
            text.split_once('=').and_then(|(key, it)| Some((fault(key.trim())?, it.trim())))
        else {
            return refused(format!("`{}` sets no rate of a fault", shorten(text)), FORM);
        };
        let times = typed.strip_suffix('x').and_then(|number| number.parse::<f64>().ok());
        let rate = match (typed, times, format::duration(typed)) {
            ("never", ..) => NewRate::Times(0.0),
            (_, Some(times), _) if times.is_finite() && times > 0.0 => NewRate::Times(times),
            (_, None, Ok(every)) if every > Duration::ZERO => NewRate::Every(every),
            _ => return refused(format!("`weather.{fault}.every` must not be `{}`", shorten(typed)), FORM),
        };
        Ok(RateChange { fault, rate, typed: typed.to_owned() })
    }
}

impl Results {
    /// These results as if faults came at these rates, each of which says in the header that it was put in.
    ///
    /// # Errors
    ///
    /// If a fault is none of the study's, its lines cannot be told apart, or the runs do not support its rate.
    pub fn with_rates(&self, changes: &[RateChange]) -> Result<Results, RateError> {
        if !self.is_divided() {
            return Err(ReweighError::NotDivided.into());
        }
        let mut factors = Factors::new();
        for change in changes {
            for (cause, factor) in self.header.factors(change)? {
                if factors.insert(cause, factor).is_some() {
                    return refused(
                        format!("`weather.{}.every` is set twice", change.fault),
                        "leave one out",
                    );
                }
            }
        }
        let mut results = self.reweigh(&factors)?;
        for design in &mut results.header.designs {
            let names = design.line_names();
            for (line, name) in design.weather.iter_mut().zip(names) {
                let change = changes.iter().find(|change| name.is_meant_by(&change.fault));
                change.iter().for_each(|change| line.put(change));
            }
        }
        Ok(results)
    }
}

impl StudyHeader {
    /// The factor of each cause with this change.
    fn factors(&self, change: &RateChange) -> Result<Factors, RateError> {
        let mut factors = Factors::new();
        let causes = self.causes();
        for design in &self.designs {
            for (line, name) in design.weather.iter().zip(design.line_names()) {
                let cause = causes.iter().find(|cause| name.is_meant_by(cause));
                let (Some(cause), true) = (cause, name.is_meant_by(&change.fault)) else { continue };
                let of_kind = design.weather.iter().filter(|it| it.kind == line.kind).count();
                if change.fault != line.kind && ***cause == line.kind && of_kind > 1 {
                    return refused(
                        format!("these records hold all lines of `{}` together", line.kind),
                        format!(
                            "set `weather.{}.every`, or sweep the study anew: new records keep lines apart",
                            line.kind
                        ),
                    );
                }
                let factor = change.rate.factor(line);
                let other = factors.insert((*cause).clone(), factor);
                if other.is_some_and(|other| (other - factor).abs() > 1e-9 * factor) {
                    return refused(
                        format!(
                            "these records hold all lines of `{}` together, and these come at different rates",
                            line.kind
                        ),
                        "say how many times as often all of them come, such as `5x`, or sweep the study anew: new \
                         records keep lines apart",
                    );
                }
            }
        }
        if factors.is_empty() {
            let lines = self.designs.iter().flat_map(|design| {
                let kinds = design.weather.iter().map(|line| line.kind.clone());
                kinds.chain(LineName::shortest(&design.line_names())).collect::<Vec<_>>()
            });
            let mut known: Vec<String> = lines.collect();
            known.sort_unstable();
            known.dedup();
            let known: Vec<&str> = known.iter().map(String::as_str).collect();
            return refused(
                format!("the study has no fault `{}`", shorten(&change.fault)),
                suggest::hint(&change.fault, &known),
            );
        }
        Ok(factors)
    }
}

impl NewRate {
    /// The factor on what a line says.
    fn factor(self, line: &WeatherLine) -> f64 {
        match self {
            NewRate::Times(times) => times,
            NewRate::Every(every) => {
                let was = format::duration(&line.every).unwrap_or(every);
                was.as_secs_f64() / every.as_secs_f64()
            }
        }
    }
}

impl WeatherLine {
    /// Puts in a rate, and where it comes from: no longer where the study had its own from.
    fn put(&mut self, change: &RateChange) {
        self.every = match change.rate {
            NewRate::Every(every) => format::duration_text(every),
            NewRate::Times(0.0) => "never".to_owned(),
            NewRate::Times(times) => match format::duration(&self.every) {
                Ok(every) => format::duration_text(every.div_f64(times)),
                Err(_) => change.typed.clone(),
            },
        };
        self.source =
            format!("Set for this page: every ({}). Other numbers are as in the study", change.typed);
    }
}

impl DesignHeader {
    /// The names of the lines of its weather.
    pub fn line_names(&self) -> Vec<LineName> {
        let plain = |text: &str| text.replace(['[', ']', '"', ' '], "");
        let of = |line: &WeatherLine, key: &str| {
            line.rest.iter().find(|(known, _)| known == key).map(|(_, text)| plain(text))
        };
        let whom = |line: &WeatherLine| {
            let ends = of(line, "from").zip(of(line, "to")).map(|(from, to)| format!("{from}>{to}"));
            (line.kind.clone(), of(line, "host").or(ends).unwrap_or_default())
        };
        LineName::of_lines(self.weather.iter().map(whom))
    }
}
