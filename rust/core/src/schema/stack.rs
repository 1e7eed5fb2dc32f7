//! Room on the stack: validation descends once for each level of the value and, on each level,
//! once for each reference or combination that leads to another schema for the same value.

use std::thread::{Builder, scope};

use serde_json::Value;

use super::children;

/// What one step may take, in bytes: measured at most 1.4 KiB optimised, 5 KiB not.
const STEP_BYTES: usize = if cfg!(debug_assertions) {
    8 * 1024
} else {
    2 * 1024
};
/// This many steps fit on the stack of any thread: 256 KiB.
const SMALL_STEPS: usize = 256 * 1024 / STEP_BYTES;
/// What is not worth more address space than 1 GiB is refused.
const MAX_STEPS: usize = 1024 * 1024 * 1024 / STEP_BYTES;

/// Compiling a schema of the greatest depth, and validating it against its meta-schema.
pub(super) const COMPILE_STEPS: usize = 16 * 1024 * 1024 / STEP_BYTES;

/// The keywords that apply a schema to the value they are beside.
const IN_PLACE: [&str; 13] = [
    "$ref",
    "$dynamicRef",
    "$recursiveRef",
    "allOf",
    "anyOf",
    "oneOf",
    "not",
    "if",
    "dependentSchemas",
    "dependencies",
    "unevaluatedProperties",
    "unevaluatedItems",
    "propertyNames",
];

/// How long a chain of schemas that look at one and the same value can get.
#[derive(Clone, Copy, Debug)]
pub(super) struct Chains {
    longest: usize,
}

impl Chains {
    /// A bound of it: no schema comes twice in a chain, and those with an in-place keyword alone
    /// have a next one.
    pub(super) fn of(schema: &Value) -> Self {
        let mut pending = vec![schema];
        let mut longest = 1;
        while let Some(schema) = pending.pop() {
            if let Value::Object(fields) = schema {
                longest += usize::from(IN_PLACE.iter().any(|name| fields.contains_key(*name)));
            }
            pending.extend(children(schema));
        }
        Self { longest }
    }

    pub(super) fn longest(self) -> usize {
        self.longest
    }

    /// Whether validation of a value of this depth fits on the stack of any thread.
    pub(super) fn are_short(self, depth: usize) -> bool {
        self.steps(depth) <= SMALL_STEPS
    }

    /// How many steps validation of a value of this depth nests at most.
    pub(super) fn steps(self, depth: usize) -> usize {
        self.longest.saturating_mul(depth + 1)
    }
}

/// What `work` gives, on a stack with room for `steps`; nothing where that stack cannot be had.
pub(super) fn with_room<T: Send>(steps: usize, work: impl FnOnce() -> T + Send) -> Option<T> {
    if steps <= SMALL_STEPS {
        return Some(work());
    }
    if steps > MAX_STEPS {
        return None;
    }
    scope(|scope| {
        let thread = Builder::new().stack_size(steps * STEP_BYTES + SMALL_STEPS * STEP_BYTES);
        let running = thread.spawn_scoped(scope, work).ok()?;
        match running.join() {
            Ok(result) => Some(result),
            Err(panic) => std::panic::resume_unwind(panic),
        }
    })
}
