//! JSON Schema: compiled once, then asked whether arguments match and, where not, why.
//!
//! Nothing is coerced, `format` and the `content…` keywords are not asserted, nothing is fetched:
//! a `$ref` out of the document is an error. Patterns run in linear time. What a schema or a value
//! can cost is bounded: nesting by [`MAX_DEPTH`], the stack by [`stack`], the ways through
//! references and the search for reasons by [`effort`].

mod effort;
mod pattern_weight;
mod problem;
mod stack;

use std::fmt;

use jsonschema::error::ValidationErrorKind;
use jsonschema::json::{Json, SerdeJson};
use jsonschema::{PatternOptions, ValidationError};
use serde_json::Value;

pub use pattern_weight::heaviest as heaviest_pattern;
pub use problem::{Problem, Step};
use stack::Chains;

/// How deep a schema and a value may be nested.
pub const MAX_DEPTH: usize = 128;
/// How many problems one answer holds; the alternatives of a union each give their own.
pub const MAX_PROBLEMS: usize = 64;

const MAX_MESSAGE_CHARS: usize = 200;

/// A schema that cannot be compiled.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SchemaError {
    /// Where in the schema, as a JSON pointer; empty for the whole of it.
    pub pointer: String,
    /// What is wrong there: one line of at most 200 characters, without a full stop.
    pub message: String,
}

/// A representation of values beside which plain JSON can be.
pub trait Instances: Json {
    /// `value` among the values of this representation.
    fn of(value: &Value) -> Self::Node<'_>;

    /// How often this thread may look at values still, if they count that. At 0 they are empty:
    /// the answer of a validation is not known.
    #[must_use]
    fn left() -> usize {
        usize::MAX
    }

    /// Let this thread look at values so often.
    fn set_left(_left: usize) {}
}

impl Instances for SerdeJson {
    fn of(value: &Value) -> &Value {
        value
    }
}

/// One compiled schema; draft 2020-12 unless its `$schema` names another.
///
/// # Examples
///
/// ```
/// use ethos_registry_core::schema::Validator;
/// use serde_json::json;
///
/// let schema = json!({"type": "object", "properties": {"limit": {"type": "integer"}}});
/// let validator = Validator::new(schema).unwrap();
/// assert!(validator.is_valid(&json!({"limit": 1.0})));
/// let problems = validator.problems(&json!({"limit": "1"}));
/// assert_eq!(problems[0].keyword, "type");
/// assert_eq!(problems[0].expected, json!("integer"));
/// ```
pub struct Validator<F: Instances = SerdeJson> {
    compiled: jsonschema::Validator<F>,
    chains: Chains,
    /// The schema itself where reasons could be too many to look for blindly.
    referring: Option<Value>,
}

impl<F: Instances> fmt::Debug for Validator<F> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.compiled.fmt(formatter)
    }
}

impl Validator {
    /// `schema`, compiled for JSON values alone.
    ///
    /// # Errors
    ///
    /// As [`Validator::compile`].
    pub fn new(schema: Value) -> Result<Self, SchemaError> {
        Self::compile(schema)
    }
}

impl<F: Instances> Validator<F> {
    /// `schema`, compiled.
    ///
    /// # Errors
    ///
    /// [`SchemaError`] where it is not a valid schema, is nested deeper than [`MAX_DEPTH`], refers to
    /// something outside of itself, leads to one place on too many ways, or has a pattern that needs
    /// look-around or back references.
    pub fn compile(schema: Value) -> Result<Self, SchemaError> {
        if depth(&schema) > MAX_DEPTH {
            return Err(SchemaError {
                pointer: String::new(),
                message: format!("it is nested deeper than {MAX_DEPTH} levels"),
            });
        }
        let chains = Chains::of(&schema);
        let work = || {
            if effort::is_bounded(&schema) {
                compile(&schema)
            } else {
                Err(whole("its references lead to one place on too many ways"))
            }
        };
        let compiled = stack::with_room(stack::COMPILE_STEPS, work)
            .unwrap_or_else(|| Err(whole("there is no memory to compile it")))?;
        Ok(Self {
            compiled,
            referring: effort::refers(&schema).then_some(schema),
            chains,
        })
    }

    /// Whether `instance`, of this many levels of lists and objects, matches; nothing where that
    /// takes more room than the stack of any thread has.
    #[must_use]
    pub fn matches(&self, instance: &F::Node<'_>, depth: usize) -> Option<bool> {
        self.chains
            .are_short(depth)
            .then(|| self.compiled.is_valid(instance.clone()) && F::left() > 0)
    }

    /// The one reason why `instance` does not match, as [`Validator::matches`] looks at it; nothing
    /// if there are several reasons: [`Validator::problems`] orders them.
    #[must_use]
    pub fn only_problem<'a>(&'a self, instance: &F::Node<'a>, depth: usize) -> Option<Problem> {
        if self.referring.is_some() || !self.chains.are_short(depth) {
            return None;
        }
        let errors = self.compiled.iter_errors(instance.clone());
        let mut problems = problem::collect::<F>(errors, instance);
        let problem = problems.pop();
        problem.filter(|_| problems.is_empty())
    }

    /// Whether `value` matches; a value nested deeper than [`MAX_DEPTH`] does not.
    #[must_use]
    pub fn is_valid(&self, value: &Value) -> bool {
        self.with_room(value, || {
            self.compiled.is_valid(F::of(value)) && F::left() > 0
        })
        .unwrap_or(false)
    }

    /// Why `value` does not match, at most [`MAX_PROBLEMS`] reasons; none when it does.
    ///
    /// Where a schema refers to itself so that the reasons could be exponentially many, one
    /// problem of the keyword `schema` represents all of them; where the value cannot be looked at
    /// any more, one of the keyword `effort`.
    #[must_use]
    pub fn problems(&self, value: &Value) -> Vec<Problem> {
        self.with_room(value, || self.found(value))
            .unwrap_or_else(|| vec![Problem::of_whole("depth")])
    }

    fn found(&self, value: &Value) -> Vec<Problem> {
        if let Some(schema) = &self.referring {
            if self.compiled.is_valid(F::of(value)) && F::left() > 0 {
                return Vec::new();
            }
            if F::left() == 0 {
                return vec![Problem::of_whole("effort")];
            }
            if !effort::is_small(schema, value, self.chains) {
                return vec![Problem::of_whole("schema")];
            }
        }
        let errors = self.compiled.iter_errors(F::of(value));
        let problems = problem::collect::<F>(errors, &F::of(value));
        if F::left() > 0 {
            return problems;
        }
        vec![Problem::of_whole("effort")]
    }

    fn with_room<T: Send>(&self, value: &Value, work: impl FnOnce() -> T + Send) -> Option<T> {
        let depth = depth(value);
        if depth > MAX_DEPTH {
            return None;
        }
        let left = F::left();
        stack::with_room(self.chains.steps(depth), || {
            F::set_left(left);
            work()
        })
    }
}

fn compile<F: Json>(schema: &Value) -> Result<jsonschema::Validator<F>, SchemaError> {
    jsonschema::options_for::<F>()
        .offline()
        .with_pattern_options(PatternOptions::regex())
        .should_validate_formats(false)
        .without_content_media_type_support("application/json")
        .without_content_encoding_support("base64")
        .build(schema)
        .map_err(|error| schema_error(&error))
}

/// Whether `pattern` is a regular expression of JSON Schema, whatever time it takes.
#[must_use]
pub fn is_pattern(pattern: &str) -> bool {
    let schema = serde_json::json!({ "pattern": pattern });
    let work = || jsonschema::options().offline().build(&schema).is_ok();
    stack::with_room(stack::COMPILE_STEPS, work).unwrap_or(false)
}

fn whole(message: &str) -> SchemaError {
    SchemaError {
        pointer: String::new(),
        message: message.to_owned(),
    }
}

fn schema_error(error: &ValidationError<'_>) -> SchemaError {
    let mut at = error.instance_path();
    let message = match error.kind() {
        ValidationErrorKind::Format { format } if format == "regex" => {
            if at.is_empty() {
                at = error.schema_path();
            }
            format!(
                "{} needs look-around or back references, which are not supported",
                error.instance()
            )
        }
        ValidationErrorKind::Referencing(problem) => {
            format!("{problem}; only references into the schema itself are followed")
        }
        _ => error.to_string(),
    };
    let message: Vec<&str> = message.split_whitespace().collect();
    SchemaError {
        pointer: at.to_string(),
        message: message.join(" ").chars().take(MAX_MESSAGE_CHARS).collect(),
    }
}

/// How many levels of lists and objects `value` has; counting ends past [`MAX_DEPTH`].
fn depth(value: &Value) -> usize {
    let mut level = vec![value];
    let mut depth = 0;
    while depth <= MAX_DEPTH
        && level
            .iter()
            .any(|value| value.is_array() || value.is_object())
    {
        depth += 1;
        level = level.into_iter().flat_map(children).collect();
    }
    depth
}

/// What a list or an object holds.
fn children(value: &Value) -> impl Iterator<Item = &Value> {
    let (items, fields) = match value {
        Value::Array(items) => (Some(items), None),
        Value::Object(fields) => (None, Some(fields)),
        _ => (None, None),
    };
    let items = items.into_iter().flatten();
    items.chain(fields.into_iter().flat_map(serde_json::Map::values))
}

#[cfg(test)]
mod tests;
