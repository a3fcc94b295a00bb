//! Figures, beside the views that they are drawn from.

mod figure;
