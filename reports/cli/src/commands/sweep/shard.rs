//! Which part of a study this process is to run: as typed, or as the system that starts many of it says.

use std::env;

use doublehold_sweeps::sweep::Shard;

use crate::error::CliError;
use crate::output;

/// `3/8`.
pub(super) fn parse(typed: &str) -> Result<Shard, String> {
    let numbers =
        typed.split_once('/').and_then(|(i, n)| Some((i.trim().parse().ok()?, n.trim().parse().ok()?)));
    numbers
        .and_then(|(number, of)| Shard::new(number, of))
        .ok_or_else(|| "a part is written `3/8`: the third of eight, counted from 1".to_owned())
}

/// What was typed, or what the environment of a job array says.
pub(super) fn shard(typed: Option<Shard>) -> Result<Shard, CliError> {
    if let Some(shard) = typed {
        return Ok(shard);
    }
    let Some((shard, by)) = shard_from_env(|name| env::var(name).ok())? else { return Ok(Shard::WHOLE) };
    output::inform(&format!("part {} of {}, as {by} says", shard.number(), shard.total()));
    if shard == Shard::WHOLE {
        output::inform("so this one job runs the whole study; one part of it is `--shard I/N`");
    }
    Ok(shard)
}

/// Slurm counts tasks from any number and may leave some out; Kubernetes counts from 0, and does not tell a process how
/// many there are, so a manifest passes that on.
fn shard_from_env(
    variable: impl Fn(&str) -> Option<String>,
) -> Result<Option<(Shard, &'static str)>, CliError> {
    let number = |name: &'static str| {
        variable(name).map(|text| text.trim().parse::<u64>().map_err(|_| bad(name, &text)))
    };
    if let Some(task) = number("SLURM_ARRAY_TASK_ID").transpose()? {
        let count = number("SLURM_ARRAY_TASK_COUNT")
            .transpose()?
            .ok_or_else(|| missing_variable("SLURM_ARRAY_TASK_COUNT"))?;
        let first = number("SLURM_ARRAY_TASK_MIN").transpose()?.unwrap_or(0);
        let step = number("SLURM_ARRAY_TASK_STEP").transpose()?.unwrap_or(1).max(1);
        let last = number("SLURM_ARRAY_TASK_MAX").transpose()?.unwrap_or(first + (count.max(1) - 1) * step);
        if last != first + (count.max(1) - 1) * step {
            return Err(gaps(first, last, count));
        }
        let place = task.saturating_sub(first) / step + 1;
        let shard = Shard::new(place, count).ok_or_else(|| beyond("SLURM_ARRAY_TASK_ID", place, count))?;
        return Ok(Some((shard, "SLURM_ARRAY_TASK_ID")));
    }
    if let Some(index) = number("JOB_COMPLETION_INDEX").transpose()? {
        let count =
            number("JOB_COMPLETIONS").transpose()?.ok_or_else(|| missing_variable("JOB_COMPLETIONS"))?;
        let shard =
            Shard::new(index + 1, count).ok_or_else(|| beyond("JOB_COMPLETION_INDEX", index + 1, count))?;
        return Ok(Some((shard, "JOB_COMPLETION_INDEX")));
    }
    Ok(None)
}

fn bad(name: &str, text: &str) -> CliError {
    CliError::Usage {
        problem: format!(
            "the variable `{name}` is `{}`, which is no whole number",
            doublehold_text::shorten(text)
        ),
        hint: "set it as the job array does, or type `--shard I/N`".to_owned(),
    }
}

fn missing_variable(name: &str) -> CliError {
    CliError::Usage {
        problem: format!("this is one job of an array, and `{name}` does not say of how many"),
        hint: format!("set `{name}` to the number of jobs, or type `--shard I/N`"),
    }
}

fn gaps(first: u64, last: u64, count: u64) -> CliError {
    CliError::Usage {
        problem: format!(
            "the array's {count} tasks are not numbered evenly from {first} to {last}, so that parts would be missing"
        ),
        hint: "submit the array without gaps, or type `--shard I/N` for each task".to_owned(),
    }
}

fn beyond(name: &str, place: u64, count: u64) -> CliError {
    CliError::Usage {
        problem: format!("`{name}` means part {place}, and there are {count}"),
        hint: "number the jobs of an array without gaps, or type `--shard I/N`".to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::{parse, shard_from_env};

    fn shard(variables: &[(&str, &str)]) -> Result<Option<(u64, u64)>, String> {
        let of =
            |name: &str| variables.iter().find(|(known, _)| *known == name).map(|(_, it)| (*it).to_owned());
        let shard = shard_from_env(of).map_err(|error| error.to_string())?;
        Ok(shard.map(|(shard, _)| (shard.number(), shard.total())))
    }

    #[test]
    fn an_array_of_slurm_says_the_part_wherever_it_begins() {
        let of = |id, min| {
            [("SLURM_ARRAY_TASK_ID", id), ("SLURM_ARRAY_TASK_COUNT", "4"), ("SLURM_ARRAY_TASK_MIN", min)]
        };
        assert_eq!(shard(&of("0", "0")), Ok(Some((1, 4))));
        assert_eq!(shard(&of("4", "1")), Ok(Some((4, 4))));
        let steps = [of("11", "5").to_vec(), vec![("SLURM_ARRAY_TASK_STEP", "2")]].concat();
        assert_eq!(shard(&steps), Ok(Some((4, 4))));
        assert!(shard(&of("9", "0")).unwrap_err().contains("means part 10, and there are 4"));
        let uneven = [of("2", "2").to_vec(), vec![("SLURM_ARRAY_TASK_MAX", "9")]].concat();
        assert!(shard(&uneven).unwrap_err().contains("not numbered evenly from 2 to 9"));
        assert!(shard(&[("SLURM_ARRAY_TASK_ID", "2")]).unwrap_err().contains("`SLURM_ARRAY_TASK_COUNT`"));
    }

    #[test]
    fn an_indexed_job_says_the_part_from_0() {
        assert_eq!(shard(&[("JOB_COMPLETION_INDEX", "7"), ("JOB_COMPLETIONS", "8")]), Ok(Some((8, 8))));
        assert!(shard(&[("JOB_COMPLETION_INDEX", "7")]).unwrap_err().contains("`JOB_COMPLETIONS`"));
        assert!(
            shard(&[("JOB_COMPLETION_INDEX", "x"), ("JOB_COMPLETIONS", "8")]).unwrap_err().contains("`x`")
        );
        assert_eq!(shard(&[]), Ok(None));
    }

    #[test]
    fn a_part_is_typed_from_1() {
        assert_eq!(parse("3/8").map(|it| (it.number(), it.total())), Ok((3, 8)));
        for wrong in ["0/8", "9/8", "3", "a/b", "3/0", ""] {
            assert!(parse(wrong).is_err(), "{wrong}");
        }
    }
}
