//! Faults that are made by rule: each comparison one off, each condition dropped, each statement left out, and so on.
//!
//! They are read off the syntax, which knows no types: the few that do not compile are dropped when they are built.
//! Patterns, types, constants and what macros are called with stay as they are, and so do tests.

use std::ops::Range;

use proc_macro2::Span;
use syn::spanned::Spanned;
use syn::visit::{self, Visit};
use syn::{BinOp, Expr, Lit, Stmt, UnOp};

use crate::fault::{Fault, change};

/// Calls, and the one that is written where it was meant.
const MISTAKEN: &[(&str, &str)] = &[
    ("min", "max"),
    ("any", "all"),
    ("first", "last"),
    ("next", "last"),
    ("next_back", "next"),
    ("find", "rfind"),
    ("position", "rposition"),
    ("saturating_add", "saturating_sub"),
    ("checked_add", "checked_sub"),
    ("is_some", "is_none"),
    ("is_ok", "is_err"),
    ("is_some_and", "is_none_or"),
    ("floor", "ceil"),
    ("min_by_key", "max_by_key"),
    ("is_lt", "is_le"),
    ("is_gt", "is_ge"),
];

/// Calls that are left out, where the value they are called on has the type of their answer.
const LEFT_OUT: &[&str] =
    &["or", "or_else", "then", "then_with", "reverse", "abs", "div_ceil", "saturating_mul"];

/// Calls whose question is answered "yes" each time.
const ASKING: &[&str] = &["filter", "retain", "take_while"];

/// All faults of a file.
///
/// # Errors
///
/// If the text is not Rust.
pub(crate) fn faults(file: &str, text: &str) -> syn::Result<Vec<Fault>> {
    let syntax = syn::parse_file(text)?;
    let mut finder = Finder { file, text, scope: Vec::new(), faults: Vec::new() };
    finder.visit_file(&syntax);
    Ok(finder.faults)
}

struct Finder<'a> {
    file: &'a str,
    text: &'a str,
    /// The type and the functions that are being read.
    scope: Vec<String>,
    faults: Vec<Fault>,
}

impl Finder<'_> {
    fn plant(&mut self, span: Span, text: String, is_statement: bool) {
        let range = span.byte_range();
        let was = &self.text[range.clone()];
        self.faults.push(Fault {
            file: self.file.to_owned(),
            function: self.scope.join("::"),
            line: span.start().line,
            change: change(was, &text),
            range,
            text,
            is_statement,
        });
    }

    fn replace(&mut self, what: &impl Spanned, text: impl Into<String>) {
        self.plant(what.span(), text.into(), false);
    }

    fn source(&self, what: &impl Spanned) -> String {
        self.text[what.span().byte_range()].to_owned()
    }

    /// The text of `whole` with one part of it written otherwise.
    fn replace_part(&self, whole: &impl Spanned, part: &impl Spanned, text: &str) -> String {
        let (Range { start, end }, part) = (whole.span().byte_range(), part.span().byte_range());
        format!("{}{text}{}", &self.text[start..part.start], &self.text[part.end..end])
    }

    fn enter_scope(&mut self, name: String, read: impl FnOnce(&mut Self)) {
        self.scope.push(name);
        read(self);
        self.scope.pop();
    }

    fn binary(&mut self, whole: &syn::ExprBinary) {
        let other = match whole.op {
            BinOp::Lt(_) => "<=",
            BinOp::Le(_) => "<",
            BinOp::Gt(_) => ">=",
            BinOp::Ge(_) => ">",
            BinOp::Eq(_) => "!=",
            BinOp::Ne(_) => "==",
            BinOp::AddAssign(_) => "-=",
            BinOp::SubAssign(_) => "+=",
            BinOp::And(_) | BinOp::Or(_) => {
                if !binds(&whole.left) && !binds(&whole.right) {
                    self.replace(whole, self.source(&whole.left));
                    self.replace(whole, self.source(&whole.right));
                }
                return;
            }
            BinOp::Add(_) | BinOp::Sub(_) | BinOp::Mul(_) | BinOp::Div(_) | BinOp::Rem(_) => {
                return self.replace(whole, self.source(&whole.left));
            }
            _ => return,
        };
        self.replace(whole, self.replace_part(whole, &whole.op, other));
    }

    fn call(&mut self, whole: &syn::ExprMethodCall) {
        let name = whole.method.to_string();
        for (one, other) in MISTAKEN {
            // `next` is taken for `last`, and nothing for `next` but `next_back`.
            let mistaken = if name == *one {
                other
            } else if name == *other && *other != "next" {
                one
            } else {
                continue;
            };
            self.replace(whole, self.replace_part(whole, &whole.method, mistaken));
            break;
        }
        if LEFT_OUT.contains(&name.as_str()) {
            self.replace(whole, self.source(&whole.receiver));
        }
        if let ("or", Some(other)) = (name.as_str(), whole.args.first()) {
            self.replace(whole, format!("({}).or({})", self.source(other), self.source(&whole.receiver)));
        }
        if name == "is_empty" {
            self.replace(whole, format!("!{}", self.source(whole)));
        }
        if let (true, Some(Expr::Closure(asked))) = (ASKING.contains(&name.as_str()), whole.args.first()) {
            self.replace(&asked.body, "true");
        }
    }

    fn literal(&mut self, whole: &syn::ExprLit) {
        match &whole.lit {
            Lit::Bool(value) => self.replace(whole, (!value.value).to_string()),
            Lit::Int(number)
                if number.to_string().bytes().all(|byte| byte.is_ascii_digit() || byte == b'_') =>
            {
                let Ok(value) = number.base10_parse::<u64>() else { return };
                // Units are mistaken by a thousand, and counts by one.
                let mistaken = if value >= 1_000 && value % 1_000 == 0 { value / 1_000 } else { value + 1 };
                self.replace(whole, mistaken.to_string());
            }
            _ => {}
        }
    }

    /// A condition that is the other way round, where nothing within it is a fault of its own.
    fn condition(&mut self, asked: &Expr) {
        let has_its_own = matches!(asked, Expr::Binary(_) | Expr::Unary(_) | Expr::Lit(_) | Expr::Let(_));
        let is_empty = matches!(asked, Expr::MethodCall(call) if call.method == "is_empty");
        if !has_its_own && !is_empty {
            self.replace(asked, format!("!({})", self.source(asked)));
        }
    }
}

/// True for conditions that give names to what they find.
fn binds(condition: &Expr) -> bool {
    match condition {
        Expr::Let(_) => true,
        Expr::Binary(both) => binds(&both.left) || binds(&both.right),
        _ => false,
    }
}

fn is_for_tests(attributes: &[syn::Attribute]) -> bool {
    let of_tests = |attribute: &syn::Attribute| match &attribute.meta {
        syn::Meta::List(list) if list.path.is_ident("cfg") => list.tokens.to_string() == "test",
        meta => meta.path().is_ident("test"),
    };
    attributes.iter().any(of_tests)
}

impl<'ast> Visit<'ast> for Finder<'_> {
    fn visit_item_mod(&mut self, item: &'ast syn::ItemMod) {
        if !is_for_tests(&item.attrs) {
            visit::visit_item_mod(self, item);
        }
    }

    fn visit_item_fn(&mut self, item: &'ast syn::ItemFn) {
        if item.sig.constness.is_none() && !is_for_tests(&item.attrs) {
            self.enter_scope(item.sig.ident.to_string(), |finder| visit::visit_item_fn(finder, item));
        }
    }

    fn visit_item_impl(&mut self, item: &'ast syn::ItemImpl) {
        let name = match &*item.self_ty {
            syn::Type::Path(path) => path.path.segments.last().map(|last| last.ident.to_string()),
            _ => None,
        };
        if !is_for_tests(&item.attrs) {
            self.enter_scope(name.unwrap_or_else(|| "_".to_owned()), |finder| {
                visit::visit_item_impl(finder, item)
            });
        }
    }

    fn visit_impl_item_fn(&mut self, item: &'ast syn::ImplItemFn) {
        if item.sig.constness.is_none() && !is_for_tests(&item.attrs) {
            self.enter_scope(item.sig.ident.to_string(), |finder| visit::visit_impl_item_fn(finder, item));
        }
    }

    fn visit_trait_item_fn(&mut self, item: &'ast syn::TraitItemFn) {
        self.enter_scope(item.sig.ident.to_string(), |finder| visit::visit_trait_item_fn(finder, item));
    }

    fn visit_item_const(&mut self, _: &'ast syn::ItemConst) {}
    fn visit_item_static(&mut self, _: &'ast syn::ItemStatic) {}
    fn visit_impl_item_const(&mut self, _: &'ast syn::ImplItemConst) {}
    fn visit_expr_const(&mut self, _: &'ast syn::ExprConst) {}
    fn visit_expr_repeat(&mut self, _: &'ast syn::ExprRepeat) {}
    fn visit_variant(&mut self, _: &'ast syn::Variant) {}
    fn visit_pat(&mut self, _: &'ast syn::Pat) {}
    fn visit_type(&mut self, _: &'ast syn::Type) {}
    fn visit_generic_argument(&mut self, _: &'ast syn::GenericArgument) {}
    fn visit_attribute(&mut self, _: &'ast syn::Attribute) {}

    fn visit_stmt(&mut self, statement: &'ast Stmt) {
        if let Stmt::Expr(done, Some(_)) = statement {
            let inner = match done {
                Expr::Try(tried) => &*tried.expr,
                other => other,
            };
            let may_be_left_out = match inner {
                Expr::MethodCall(_)
                | Expr::Call(_)
                | Expr::Assign(_)
                | Expr::Await(_)
                | Expr::Continue(_) => true,
                Expr::Break(out) => out.expr.is_none(),
                Expr::Binary(_) => true,
                _ => false,
            };
            if may_be_left_out {
                self.plant(statement.span(), String::new(), true);
            }
        }
        visit::visit_stmt(self, statement);
    }

    fn visit_expr_if(&mut self, whole: &'ast syn::ExprIf) {
        self.condition(&whole.cond);
        visit::visit_expr_if(self, whole);
    }

    fn visit_arm(&mut self, arm: &'ast syn::Arm) {
        if let Some((_, guard)) = &arm.guard {
            self.condition(guard);
        }
        visit::visit_arm(self, arm);
    }

    fn visit_expr(&mut self, expression: &'ast Expr) {
        match expression {
            Expr::Binary(whole) => self.binary(whole),
            Expr::MethodCall(whole) => self.call(whole),
            Expr::Lit(whole) => self.literal(whole),
            Expr::Unary(whole) if matches!(whole.op, UnOp::Not(_)) => {
                self.replace(whole, self.source(&whole.expr))
            }
            Expr::Call(whole) => {
                let is_some = matches!(&*whole.func, Expr::Path(path) if path.path.is_ident("Some"));
                if is_some {
                    self.replace(whole, "None");
                }
            }
            _ => {}
        }
        visit::visit_expr(self, expression);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn changes(text: &str) -> Vec<String> {
        faults("a.rs", text).expect("it is Rust").into_iter().map(|fault| fault.change).collect()
    }

    #[test]
    fn each_rule_makes_its_faults() {
        assert_eq!(changes("fn a() -> bool { b < c }"), ["b < c -> b <= c"]);
        assert_eq!(changes("fn a() -> bool { b && c }"), ["b && c -> b", "b && c -> c"]);
        assert_eq!(changes("fn a() -> bool { !b }"), ["!b -> b"]);
        assert_eq!(changes("fn a() -> u64 { b / 1_000_000 }"), ["b / 1_000_000 -> b", "1_000_000 -> 1000"]);
        assert_eq!(changes("fn a() { b(c); }"), ["b(c); -> (nothing)"]);
        assert_eq!(changes("fn a() { if b() {} }"), ["b() -> !(b())"]);
        assert_eq!(changes("fn a() -> O { Some(b) }"), ["Some(b) -> None"]);
        assert_eq!(changes("fn a() -> O { b.or(c) }"), ["b.or(c) -> b", "b.or(c) -> (c).or(b)"]);
        assert_eq!(changes("fn a() -> I { b.filter(|b| c(b)) }"), ["c(b) -> true"]);
        assert_eq!(changes("fn a() -> O { b.min(c) }"), ["b.min(c) -> b.max(c)"]);
    }

    #[test]
    fn names_tests_types_patterns_and_constants_stay() {
        let text = "const A: u8 = 1;\n#[cfg(test)] mod tests { fn a() -> u8 { 1 } }\n#[test] fn b() { c(); }\n\
                    fn d(e: [u8; 3]) { match e { [1, ..] => {} _ => {} } }\nfn f() { if let Some(g) = h && g {} }";
        assert_eq!(changes(text), [""; 0]);
    }
}
