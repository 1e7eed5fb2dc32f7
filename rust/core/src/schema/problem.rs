//! What is wrong with a value, as plain data; the caller writes the messages.

use jsonschema::error::{TypeKind, ValidationErrorKind};
use jsonschema::json::{Array, Json, Node, Object};
use jsonschema::paths::Location;
use jsonschema::{JsonType, ValidationError};
use serde_json::Value;

use super::MAX_PROBLEMS;

/// One step into a value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Step {
    /// The field of an object.
    Key(String),
    /// The item of a list.
    Index(usize),
}

/// One reason why a value does not match.
#[derive(Clone, Debug, PartialEq)]
pub struct Problem {
    /// Where; for a missing and for an unexpected field the path ends with its name.
    pub path: Vec<Step>,
    /// The schema's keyword; `oneOf` only if several alternatives match; `names` for a field
    /// whose name is wrong; `schema`, `effort`, `depth` for problems without a keyword.
    pub keyword: String,
    /// The keyword's value in the schema; null if the keyword needs none.
    pub expected: Value,
    /// Whether it is one alternative of a union that expected it.
    pub in_union: bool,
}

impl Problem {
    /// The problem of a value as a whole, by a keyword that no schema has.
    #[must_use]
    pub fn of_whole(keyword: &str) -> Self {
        Self {
            path: Vec::new(),
            keyword: keyword.to_owned(),
            expected: Value::Null,
            in_union: false,
        }
    }
}

/// How many errors are looked at for a missing field, once there are enough of the others.
const MAX_ERRORS_SEEN: usize = 16 * MAX_PROBLEMS;

/// Problems by how much a caller needs to know them.
#[derive(Default)]
struct Found {
    missing: Vec<Problem>,
    wrong: Vec<Problem>,
    unknown: Vec<Problem>,
}

impl Found {
    fn add(&mut self, problem: Problem) {
        let kind = match problem.keyword.as_str() {
            "required" if !problem.in_union => &mut self.missing,
            "additionalProperties" => &mut self.unknown,
            _ => &mut self.wrong,
        };
        if kind.len() < MAX_PROBLEMS {
            kind.push(problem);
        }
    }

    /// The first of all: missing fields, then wrong values, then unknown fields.
    fn into_problems(self) -> Vec<Problem> {
        let mut problems = self.missing;
        problems.extend(self.wrong);
        problems.extend(self.unknown);
        problems.truncate(MAX_PROBLEMS);
        problems
    }
}

/// The first problems of `instance`, missing fields before wrong values before unknown fields; a
/// union's are those of its alternatives.
pub(super) fn collect<'a, F: Json>(
    errors: impl Iterator<Item = ValidationError<'a>>,
    instance: &F::Node<'_>,
) -> Vec<Problem> {
    let mut found = Found::default();
    for (seen, error) in errors.enumerate() {
        flatten::<F>(&error, instance, &mut found);
        if found.wrong.len() >= MAX_PROBLEMS && seen >= MAX_ERRORS_SEEN {
            break;
        }
    }
    found.into_problems()
}

fn flatten<F: Json>(error: &ValidationError<'_>, instance: &F::Node<'_>, found: &mut Found) {
    let mut pending = vec![(error, false)];
    let mut seen = 0;
    while let Some((error, in_union)) = pending.pop() {
        seen += 1;
        if seen > MAX_ERRORS_SEEN {
            return;
        }
        match error.kind() {
            ValidationErrorKind::AnyOf { context }
            | ValidationErrorKind::OneOfNotValid { context }
                if context.iter().any(|branch| !branch.is_empty()) =>
            {
                let alternatives = context.iter().flatten();
                pending.extend(alternatives.rev().map(|error| (error, true)));
            }
            kind => {
                let (path, place) = located::<F>(error.instance_path(), instance);
                match unexpected::<F>(error, place) {
                    Some(names) => unknown(names, &path, in_union, found),
                    None => found.add(problem_of(kind, path, in_union)),
                }
            }
        }
    }
}

/// The fields that should not be there, where that is what is wrong.
fn unexpected<F: Json>(
    error: &ValidationError<'_>,
    place: Option<F::Node<'_>>,
) -> Option<Vec<String>> {
    match error.kind() {
        ValidationErrorKind::AdditionalProperties { unexpected }
        | ValidationErrorKind::UnevaluatedProperties { unexpected } => {
            Some(unexpected.iter().take(MAX_PROBLEMS).cloned().collect())
        }
        // Where no field is allowed at all the library names none.
        ValidationErrorKind::FalseSchema => {
            let mut keywords = error.schema_path().as_str().rsplit('/');
            let is_of_fields = matches!(
                keywords.next(),
                Some("additionalProperties" | "unevaluatedProperties")
            ) && keywords.next() != Some("properties");
            let fields = place.filter(|_| is_of_fields)?.as_object()?;
            let names = fields.members().take(MAX_PROBLEMS);
            Some(names.map(|(name, _)| name.as_ref().to_owned()).collect())
        }
        _ => None,
    }
}

fn unknown(names: Vec<String>, path: &[Step], in_union: bool, found: &mut Found) {
    for name in names {
        found.add(Problem {
            path: [path, &[Step::Key(name)]].concat(),
            keyword: "additionalProperties".to_owned(),
            expected: Value::Null,
            in_union,
        });
    }
}

fn problem_of(kind: &ValidationErrorKind, mut path: Vec<Step>, in_union: bool) -> Problem {
    let (keyword, expected) = match kind {
        ValidationErrorKind::Required { property } => {
            path.extend(property.as_str().map(|name| Step::Key(name.to_owned())));
            ("required", Value::Null)
        }
        ValidationErrorKind::PropertyNames { error } => {
            let name = error.instance().as_str();
            path.extend(name.map(|name| Step::Key(name.to_owned())));
            ("names", Value::from(error.kind().keyword()))
        }
        kind => (kind.keyword(), expected(kind)),
    };
    Problem {
        path,
        keyword: keyword.to_owned(),
        expected,
        in_union,
    }
}

/// The keyword's value in the schema.
fn expected(kind: &ValidationErrorKind) -> Value {
    use ValidationErrorKind as Kind;
    match kind {
        Kind::AdditionalItems { limit } => Value::from(*limit),
        Kind::Constant { expected_value } => (**expected_value).clone(),
        Kind::Enum { options } => (**options).clone(),
        Kind::ExclusiveMaximum { limit }
        | Kind::ExclusiveMinimum { limit }
        | Kind::Maximum { limit }
        | Kind::Minimum { limit } => limit.clone(),
        Kind::MaxItems { limit }
        | Kind::MaxLength { limit }
        | Kind::MaxProperties { limit }
        | Kind::MinItems { limit }
        | Kind::MinLength { limit }
        | Kind::MinProperties { limit } => Value::from(*limit),
        Kind::MultipleOf { multiple_of } => multiple_of.clone(),
        Kind::Pattern { pattern } => Value::from(pattern.as_str()),
        Kind::Type {
            kind: TypeKind::Single(name),
        } => Value::from(name.as_str()),
        Kind::Type {
            kind: TypeKind::Multiple(names),
        } => names.iter().map(JsonType::as_str).collect(),
        _ => Value::Null,
    }
}

/// The library gives a path as text; the value shows which steps are indices.
fn located<'a, F: Json>(
    location: &Location,
    instance: &F::Node<'a>,
) -> (Vec<Step>, Option<F::Node<'a>>) {
    let mut at = Some(instance.clone());
    let segments = location.as_str().split('/').skip(1);
    let steps = segments.map(|segment| {
        let segment = segment.replace("~1", "/").replace("~0", "~");
        let (step, next) = below::<F>(at.as_ref(), segment);
        at = next;
        step
    });
    let path = steps.collect();
    (path, at)
}

/// The step of one segment of a path, and the value there.
fn below<'a, F: Json>(at: Option<&F::Node<'a>>, segment: String) -> (Step, Option<F::Node<'a>>) {
    if let Some(items) = at.and_then(Node::as_array)
        && let Ok(index) = segment.parse()
    {
        return (Step::Index(index), items.elements().nth(index));
    }
    let fields = at.and_then(Node::as_object);
    let next = fields.and_then(|fields| {
        let mut members = fields.members();
        members.find(|(name, _)| name.as_ref() == segment)
    });
    (Step::Key(segment), next.map(|(_, value)| value))
}
