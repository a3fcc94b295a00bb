//! Scripts that would crash the process that runs them: each gives the answer Redis gives, or an error that names the limit.

use crate::support::Node;

/// Runs each script, on a stack as small as a thread of a runtime may have, and compares what its reply begins with.
fn check(table: &'static [(&'static str, &'static str)]) {
    let thread = std::thread::Builder::new().stack_size(2 << 20).spawn(move || {
        for (script, expected) in table {
            let mut node = Node::new();
            let mut client = node.client();
            let reply = node.ask(&mut client, &["EVAL", script, "0"]);
            assert!(reply.starts_with(expected), "{script}\n  gave {}", &reply[..reply.len().min(300)]);
            assert_eq!(node.ask(&mut client, &["EVAL", "return 'fine'", "0"]), "$4|fine|", "after {script}");
        }
    });
    thread.expect("a thread").join().expect("every script was answered as expected");
}

#[test]
fn a_protected_call_returns_as_many_results_as_the_stack_holds() {
    check(&[
        ("return {pcall(function() return unpack({}, 1, 100) end)}", "*1|:1|"),
        ("return select('#', pcall(function() return unpack({}, 1, 5000) end))", ":5001|"),
        ("local function f() return pcall(f) end return f()", ":1|"),
    ]);
}
