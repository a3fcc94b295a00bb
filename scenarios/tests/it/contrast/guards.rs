//! Contrasts of what guards the data: the one setting that turns each verdict.

use doublehold_history::Predicate::{P3, P4};

use super::table::{Contrast, contrast};

pub(super) const GUARDS: &[Contrast] = &[
    contrast(
        "ask-the-lock/unreachable",
        "it fails closed",
        &[("resource.no_answer", "apply")],
        &[(P3, "violated"), (P4, "violated")],
    ),
    contrast(
        "forgetful-replicas/four-of-five/three-forget",
        "three forget",
        &[("faults.2.host", "['resource-1', 'resource-2']")],
        &[(P3, "holds"), (P4, "holds")],
    ),
];
