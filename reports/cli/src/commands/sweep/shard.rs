//! Which part of a study this process is to run: as typed, or as the system that starts many of it says.

use std::env;

use doublehold_sweeps::sweep::Shard;

use crate::error::CliError;
use crate::output;

/// What was typed, or what the environment of a job array says.
pub(super) fn shard(typed: Option<Shard>) -> Result<Shard, CliError> {
    if let Some(shard) = typed {
        return Ok(shard);
    }
    let Some((shard, by)) = shard_from_env(&|name| env::var(name).ok())? else { return Ok(Shard::WHOLE) };
    output::inform(&format!("part {} of {}, as {by} says", shard.number(), shard.total()));
    if shard == Shard::WHOLE {
        output::inform("so this one job runs the whole study; one part of it is `--shard I/N`");
    }
    Ok(shard)
}

/// The value of a variable of the environment.
type Variables<'a> = &'a dyn Fn(&str) -> Option<String>;
/// A part, and the variable that says which.
type Found = Option<(Shard, &'static str)>;

/// Schedulers that number the tasks of an array and do not tell how many there are: the variable, the value that it has
/// outside of arrays, and the scheduler.
const UNCOUNTED: [(&str, &str, &str); 3] = [
    ("PBS_ARRAY_INDEX", "", "PBS"),
    ("PBS_ARRAYID", "", "Torque"),
    // The last index is told, and not the first, nor which ones are left out.
    ("LSB_JOBINDEX", "0", "LSF"),
];

fn shard_from_env(variables: Variables<'_>) -> Result<Found, CliError> {
    for system in [slurm, kubernetes, aws_batch, grid_engine] {
        let found = system(variables)?;
        if found.is_some() {
            return Ok(found);
        }
    }
    let in_array = |(name, outside, _): &&(&str, &str, &str)| {
        variables(name).is_some_and(|value| value != *outside && !value.is_empty())
    };
    match UNCOUNTED.iter().find(in_array) {
        Some((name, _, system)) => Err(uncounted(name, system)),
        None => Ok(None),
    }
}

/// Slurm counts tasks from any number and may leave some out.
fn slurm(variables: Variables<'_>) -> Result<Found, CliError> {
    let Some(task) = number(variables, "SLURM_ARRAY_TASK_ID")? else { return Ok(None) };
    let count = count(variables, "SLURM_ARRAY_TASK_COUNT")?;
    let first = number(variables, "SLURM_ARRAY_TASK_MIN")?.unwrap_or(0);
    let step = number(variables, "SLURM_ARRAY_TASK_STEP")?.unwrap_or(1).max(1);
    let last = (count.max(1) - 1).saturating_mul(step).saturating_add(first);
    let told = number(variables, "SLURM_ARRAY_TASK_MAX")?.unwrap_or(last);
    if told != last {
        return Err(gaps(first, told, count));
    }
    part(task.saturating_sub(first) / step, count, "SLURM_ARRAY_TASK_ID")
}

/// Kubernetes counts from 0, and does not tell a process how many there are, so a manifest passes that on.
fn kubernetes(variables: Variables<'_>) -> Result<Found, CliError> {
    let Some(index) = number(variables, "JOB_COMPLETION_INDEX")? else { return Ok(None) };
    part(index, count(variables, "JOB_COMPLETIONS")?, "JOB_COMPLETION_INDEX")
}

/// AWS Batch counts from 0.
fn aws_batch(variables: Variables<'_>) -> Result<Found, CliError> {
    let Some(index) = number(variables, "AWS_BATCH_JOB_ARRAY_INDEX")? else { return Ok(None) };
    part(index, count(variables, "AWS_BATCH_JOB_ARRAY_SIZE")?, "AWS_BATCH_JOB_ARRAY_INDEX")
}

/// Grid Engine counts from any number, in steps of any size. Outside of arrays, its variables are `undefined`.
fn grid_engine(variables: Variables<'_>) -> Result<Found, CliError> {
    let defined = |name: &str| variables(name).filter(|value| value != "undefined");
    let Some(task) = number(&defined, "SGE_TASK_ID")? else { return Ok(None) };
    let first = number(&defined, "SGE_TASK_FIRST")?.unwrap_or(1);
    let step = number(&defined, "SGE_TASK_STEPSIZE")?.unwrap_or(1).max(1);
    // The number that was typed, which no task need have: `-t 1-10:4` makes 1, 5 and 9.
    let last = count(&defined, "SGE_TASK_LAST")?;
    let count = (last.saturating_sub(first) / step).saturating_add(1);
    part(task.saturating_sub(first) / step, count, "SGE_TASK_ID")
}

/// A whole number, if the variable is set.
fn number(variables: Variables<'_>, name: &'static str) -> Result<Option<u64>, CliError> {
    variables(name).map(|text| text.trim().parse().map_err(|_| bad(name, &text))).transpose()
}

/// A whole number that cannot be done without.
fn count(variables: Variables<'_>, name: &'static str) -> Result<u64, CliError> {
    number(variables, name)?.ok_or_else(|| missing_variable(name))
}

/// The part of a task that is so many after the first.
fn part(index: u64, count: u64, name: &'static str) -> Result<Found, CliError> {
    let place = index.saturating_add(1);
    let shard = Shard::new(place, count).ok_or_else(|| beyond(name, place, count))?;
    Ok(Some((shard, name)))
}

fn uncounted(name: &str, system: &str) -> CliError {
    CliError::Usage {
        problem: format!(
            "this is one task of an array, as `{name}` says, and {system} does not tell a task how many there are: each would run the whole study"
        ),
        hint: format!(
            "type `--shard I/N`, such as `--shard \"${name}/8\"` if tasks are numbered from 1 to 8; `--shard 1/1` runs all of it"
        ),
    }
}

fn bad(name: &str, text: &str) -> CliError {
    CliError::Usage {
        problem: format!(
            "the variable `{name}` is `{}`, which is not a whole number",
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
    use super::shard_from_env;
    use crate::commands::shared::parse_shard as parse;

    fn shard(variables: &[(&str, &str)]) -> Result<Option<(u64, u64)>, String> {
        let of =
            |name: &str| variables.iter().find(|(known, _)| *known == name).map(|(_, it)| (*it).to_owned());
        let shard = shard_from_env(&of).map_err(|error| error.to_string())?;
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
    fn an_array_of_aws_batch_says_the_part_from_0() {
        let of = |index| [("AWS_BATCH_JOB_ARRAY_INDEX", index), ("AWS_BATCH_JOB_ARRAY_SIZE", "8")];
        assert_eq!(shard(&of("0")), Ok(Some((1, 8))));
        assert_eq!(shard(&of("7")), Ok(Some((8, 8))));
        assert!(shard(&of("8")).unwrap_err().contains("means part 9, and there are 8"));
        assert!(shard(&of("0")[..1]).unwrap_err().contains("`AWS_BATCH_JOB_ARRAY_SIZE` does not say of"));
        assert_eq!(shard(&of("0")[1..]), Ok(None));
    }

    #[test]
    fn an_array_of_grid_engine_says_the_part_wherever_it_begins_and_in_whatever_steps() {
        let of = |id, [first, last, step]: [&'static str; 3]| {
            let range = [("SGE_TASK_FIRST", first), ("SGE_TASK_LAST", last), ("SGE_TASK_STEPSIZE", step)];
            shard(&[&[("SGE_TASK_ID", id)], &range[..]].concat())
        };
        assert_eq!(of("1", ["1", "4", "1"]), Ok(Some((1, 4))));
        assert_eq!(of("4", ["1", "4", "1"]), Ok(Some((4, 4))));
        assert_eq!(of("7", ["5", "8", "1"]), Ok(Some((3, 4))));
        // Three tasks, whether the last is told as typed or as made.
        for last in ["9", "10", "12"] {
            assert_eq!(of("9", ["1", last, "4"]), Ok(Some((3, 3))), "{last}");
        }
        assert!(of("9", ["1", "4", "1"]).unwrap_err().contains("means part 9, and there are 4"));
        assert_eq!(of("undefined", ["undefined"; 3]), Ok(None));
        assert!(shard(&[("SGE_TASK_ID", "3")]).unwrap_err().contains("`SGE_TASK_LAST` does not say of how"));
        assert!(of("three", ["1", "4", "1"]).unwrap_err().contains("`SGE_TASK_ID` is `three`"));
    }

    #[test]
    fn an_array_without_a_count_is_refused_with_the_way_out() {
        for (name, system) in [("PBS_ARRAY_INDEX", "PBS"), ("PBS_ARRAYID", "Torque"), ("LSB_JOBINDEX", "LSF")]
        {
            let told = shard(&[(name, "3")]).unwrap_err();
            let cause = format!("as `{name}` says, and {system} does not tell a task how many there are");
            assert!(told.contains(&cause) && told.contains(&format!("--shard \"${name}/8\"")), "{told}");
            assert_eq!(shard(&[(name, "")]), Ok(None));
        }
        // LSF sets it for every job.
        assert_eq!(shard(&[("LSB_JOBINDEX", "0")]), Ok(None));
        let slurm_too = [("SLURM_ARRAY_TASK_ID", "1"), ("SLURM_ARRAY_TASK_COUNT", "2"), ("PBS_ARRAYID", "1")];
        assert_eq!(shard(&slurm_too), Ok(Some((2, 2))));
    }

    #[test]
    fn a_part_is_typed_from_1() {
        assert_eq!(parse("3/8").map(|it| (it.number(), it.total())), Ok((3, 8)));
        for wrong in ["0/8", "9/8", "3", "a/b", "3/0", ""] {
            assert!(parse(wrong).is_err(), "{wrong}");
        }
    }
}
