//! Files that a study names are found beside it, wherever the program is run.

use std::fs;

use doublehold_sweeps::study::{CellId, Study};

const WEATHER: &str = "for = \"9s\"\n[[faults]]\nkind = \"crash\"\nhost = \"clients\"\nevery = \"9s\"\nfor = \"1s\"\nsource = \"?\"\n";

#[test]
fn paths_count_from_the_folder_of_the_study() {
    let folder = std::env::temp_dir().join(format!("doublehold-study-files-{}", std::process::id()));
    fs::create_dir_all(folder.join("weather")).expect("a temporary directory");
    let write = |name: &str, text: &str| fs::write(folder.join(name), text).expect("the folder is ours");
    write("weather/mine.toml", WEATHER);
    write("other.toml", &WEATHER.replace("for = \"9s\"", "for = \"8s\""));
    let world = doublehold_scenarios::catalog::load("lease-pause", &[]).expect("it is ours").to_toml();
    write(
        "world.toml",
        &format!("{world}\n[[variants]]\nname = \"short\"\nset = {{ \"lock.ttl\" = \"3s\" }}\n"),
    );
    write(
        "study.toml",
        "question = \"?\"\nweather = \"weather/mine.toml\"\n[[designs]]\nname = \"a\"\nlock = \"single\"\n\
         [[designs]]\nname = \"b\"\nscenario = \"world.toml\"\n[[designs]]\nname = \"c\"\n\
         scenario = \"./world.toml/short\"\nweather = \"other.toml\"\n\
         [[designs]]\nname = \"d\"\nscenario = \"lease-pause/redlock\"\n\
         [grid]\nweather = [\"weather/mine.toml\", \"./other.toml\", \"calm\"]\n",
    );
    let path = folder.join("study.toml");
    let study = Study::load(&path.to_string_lossy()).unwrap_or_else(|error| panic!("{error}"));
    let scenario = |cell| study.scenario(CellId(cell)).unwrap_or_else(|error| panic!("{error}"));
    let window = |cell| scenario(cell).weather.map(|weather| weather.window.as_secs());
    assert_eq!([0, 4, 8].map(window), [Some(9), Some(8), Some(20)]);
    assert_eq!(scenario(2).lock.ttl.as_secs(), 3, "a variant of a file");
    assert_eq!(scenario(3).lock.algorithm, "redlock", "a name of the catalogue stays one");
    assert_eq!(study.axes[0].values, ["weather/mine.toml", "./other.toml", "calm"], "as typed");

    let text = fs::read_to_string(&path).expect("it was written");
    write("study.toml", &text.replace("world.toml/short", "nowhere.toml"));
    let told = Study::load(&path.to_string_lossy()).expect_err("there is no such file").to_string();
    let missing = folder.join("./nowhere.toml");
    assert!(told.contains(&format!("cannot read scenario `{}`", missing.display())), "{told}");
    fs::remove_dir_all(folder).expect("it is ours");
}
