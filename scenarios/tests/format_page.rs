//! The page that explains the format shows a file that is one.

use doublehold_scenarios::catalog;

#[test]
fn the_example_of_the_format_page_is_a_scenario() {
    let page = include_str!("../FORMAT.md");
    let (_, block) = page.split_once("```toml\n").expect("the page has an example");
    let (example, _) = block.split_once("```").expect("the example ends");
    let path = std::env::temp_dir().join(format!("doublehold-format-{}.toml", std::process::id()));
    std::fs::write(&path, example).expect("a temporary file");
    let path = path.to_str().expect("a temporary path is text");
    for name in [path.to_owned(), format!("{path}/again")] {
        if let Err(error) = catalog::load(&name, &[]) {
            panic!("{error}");
        }
    }
    std::fs::remove_file(path).expect("it was written above");
}
