//! What is wrong only together in a grid too large to be looked at whole is found before the first run: two values
//! that do not fit, wherever they stand, and three that do not fit in many of the cells.

use std::ops::Range;

use doublehold_sweeps::study::Study;

/// How many cells the study of a grid has.
fn cells(axes: &[(&str, Vec<String>)]) -> Result<u64, String> {
    let mut text =
        "question = \"?\"\nweather = \"pauses-only\"\n[[designs]]\nname = \"d\"\nlock = \"single\"\n\
         set = { \"lock.elapsed_check\" = true }\n[grid]\n"
            .to_owned();
    for (key, values) in axes {
        text += &format!("\"{key}\" = [\"{}\"]\n", values.join("\", \""));
    }
    let study = Study::parse("test", "test.toml", &text).map_err(|error| error.to_string())?;
    Ok(study.grid().cells())
}

/// A first value, and others.
fn values(first: &str, others: Range<u32>, shown: impl Fn(u32) -> String) -> Vec<String> {
    std::iter::once(first.to_owned()).chain(others.map(shown)).collect()
}

#[test]
fn two_values_that_do_not_fit_are_found_wherever_they_stand() {
    let seconds = |it| format!("{it}s");
    let grid = |last: &str| {
        let mut times = values("60s", 61..90, seconds);
        times[29] = last.to_owned();
        cells(&[
            ("lock.ttl", values("1s", 2..11, seconds)),
            ("weather.for", values("1s", 2..31, seconds)),
            ("limits.time", times),
        ])
    };
    assert_eq!(grid("90s"), Ok(9_000));
    let told = grid("30s").expect_err("the last two do not fit");
    assert!(told.contains("`weather.for = 30s`") && told.contains("`limits.time = 30s`"), "{told}");
    assert!(told.contains("weather must end before the run"), "{told}");
}

#[test]
fn three_values_that_do_not_fit_are_found_where_many_do_not() {
    let grid = |longer: u32| {
        cells(&[
            ("lock.ttl", values("10s", 1_000..1_019, |it| format!("{}ms", it + longer))),
            ("lock.drift_constant", values("2ms", 600..619, |it| format!("{it}ms"))),
            ("lock.drift_ratio", values("1/100", 500..519, |it| format!("{it}/1000"))),
        ])
    };
    assert_eq!(grid(1_000), Ok(8_000));
    // A second lasts longer than half of it, and than 600 ms, and not than both.
    let told = grid(0).expect_err("most of them do not fit");
    assert!(told.contains("`lock.ttl = 10") && told.contains("`lock.drift_constant = 6"), "{told}");
}
