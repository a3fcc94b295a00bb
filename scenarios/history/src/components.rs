//! Strongly connected components of a directed graph: Tarjan's algorithm with its own stack, so that a long
//! chain of grants cannot overflow the thread's.

/// The components with at least two members, each sorted, in order of their first member. `successors[n]`
/// lists where the edges of node `n` lead; a target that is not a node is ignored.
pub(crate) fn components(successors: &[Vec<usize>]) -> Vec<Vec<usize>> {
    let mut search = Tarjan {
        successors,
        visited: vec![None; successors.len()],
        on_stack: vec![false; successors.len()],
        stack: Vec::new(),
        count: 0,
        found: Vec::new(),
    };
    for node in 0..successors.len() {
        if search.visited[node].is_none() {
            search.explore(node);
        }
    }
    search.found.sort();
    search.found
}

struct Tarjan<'a> {
    successors: &'a [Vec<usize>],
    /// For each node: the order in which it was reached, and the earliest node on the stack it can reach.
    visited: Vec<Option<(usize, usize)>>,
    on_stack: Vec<bool>,
    stack: Vec<usize>,
    count: usize,
    found: Vec<Vec<usize>>,
}

impl Tarjan<'_> {
    fn explore(&mut self, root: usize) {
        let mut path = vec![(root, 0)];
        self.enter(root);
        while let Some((node, next)) = path.last_mut() {
            let node = *node;
            let Some(&target) = self.successors[node].get(*next) else {
                path.pop();
                self.leave(node, path.last().map(|&(parent, _)| parent));
                continue;
            };
            *next += 1;
            match self.visited.get(target) {
                Some(None) => {
                    self.enter(target);
                    path.push((target, 0));
                }
                Some(&Some((order, _))) if self.on_stack[target] => self.lower(node, order),
                _ => {}
            }
        }
    }

    fn enter(&mut self, node: usize) {
        self.visited[node] = Some((self.count, self.count));
        self.count += 1;
        self.stack.push(node);
        self.on_stack[node] = true;
    }

    fn lower(&mut self, node: usize, low: usize) {
        if let Some((_, lowest)) = &mut self.visited[node] {
            *lowest = low.min(*lowest);
        }
    }

    /// Everything below `node` is known: if nothing above it can be reached, what is on the stack down to it
    /// is one component.
    fn leave(&mut self, node: usize, parent: Option<usize>) {
        let Some((order, low)) = self.visited[node] else { return };
        if let Some(parent) = parent {
            self.lower(parent, low);
        }
        if order != low {
            return;
        }
        let first = self.stack.iter().rposition(|&it| it == node).unwrap_or_default();
        let mut component = self.stack.split_off(first);
        for &member in &component {
            self.on_stack[member] = false;
        }
        if component.len() > 1 {
            component.sort_unstable();
            self.found.push(component);
        }
    }
}
