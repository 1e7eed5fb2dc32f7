#![expect(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    reason = "tests may panic"
)]

use serde_json::{Value, json};

use super::{MAX_DEPTH, MAX_PROBLEMS, SchemaError, Step, Validator, is_pattern};

fn refused(schema: Value) -> SchemaError {
    Validator::new(schema).unwrap_err()
}

fn nested(depth: usize, leaf: Value) -> Value {
    (0..depth).fold(leaf, |inner, _| json!({"next": inner}))
}

#[test]
fn problems_say_where_what_was_expected_and_by_which_keyword() {
    let validator = Validator::new(json!({
        "properties": {"a/b": {"items": {"enum": [1, "x"]}}, "": {"maxLength": 2}},
        "required": ["name"],
        "additionalProperties": false,
    }))
    .unwrap();
    let problems = validator.problems(&json!({"a/b": [1, 2], "": "abc", "extra": 1}));
    let mut reported: Vec<_> = problems
        .into_iter()
        .map(|problem| (problem.path, problem.keyword, problem.expected))
        .collect();
    reported.sort_by(|left, right| left.1.cmp(&right.1));
    let key = |name: &str| Step::Key(name.to_owned());
    assert_eq!(
        reported,
        [
            (
                vec![key("extra")],
                "additionalProperties".to_owned(),
                Value::Null
            ),
            (
                vec![key("a/b"), Step::Index(1)],
                "enum".to_owned(),
                json!([1, "x"])
            ),
            (vec![key("")], "maxLength".to_owned(), json!(2)),
            (vec![key("name")], "required".to_owned(), Value::Null),
        ]
    );
}

#[test]
fn a_union_tells_what_each_alternative_expected() {
    let schema =
        json!({"anyOf": [{"type": "string"}, {"anyOf": [{"type": "null"}, {"minimum": 5}]}]});
    let problems = Validator::new(schema).unwrap().problems(&json!(1));
    let reported: Vec<_> = problems
        .iter()
        .map(|problem| (problem.keyword.as_str(), problem.in_union))
        .collect();
    assert_eq!(
        reported,
        [("type", true), ("type", true), ("minimum", true)]
    );
}

#[test]
fn keys_of_digits_are_no_indices() {
    let validator = Validator::new(json!({"additionalProperties": {"type": "null"}})).unwrap();
    assert_eq!(
        validator.problems(&json!({"0": 1}))[0].path,
        [Step::Key("0".to_owned())]
    );
}

#[test]
fn an_invalid_schema_is_refused_with_the_place() {
    let error = refused(json!({"properties": {"a": {"type": "strin"}}}));
    assert_eq!(error.pointer, "/properties/a/type");
}

#[test]
fn references_out_of_the_document_are_refused() {
    for target in [
        "https://example.com/a.json",
        "file:///etc/hostname",
        "other.json",
        "#/$defs/no",
    ] {
        let error = refused(json!({"properties": {"a": {"$ref": target}}}));
        assert!(
            error.message.contains("only references into the schema"),
            "{error:?}"
        );
    }
    refused(json!({"$schema": "https://example.com/own-meta-schema"}));
}

#[test]
fn patterns_that_need_backtracking_are_refused_by_name() {
    for pattern in ["^(?=a)b", "(?<!a)b", r"(a)\1"] {
        let error = refused(json!({"properties": {"a": {"pattern": pattern}}}));
        assert_eq!(error.pointer, "/properties/a/pattern");
        assert!(
            error.message.contains(&Value::from(pattern).to_string()),
            "{error:?}"
        );
        refused(json!({"patternProperties": {pattern: true}}));
    }
    refused(json!({"pattern": "(((a{1000}){1000}){1000})"}));
}

#[test]
fn nesting_ends_at_the_limit() {
    let schema = json!({"$ref": "#/$defs/node", "$defs": {"node": {"properties": {"next": {"$ref": "#/$defs/node"}}, "type": "object"}}});
    let validator = Validator::new(schema).unwrap();
    assert!(validator.is_valid(&nested(MAX_DEPTH - 1, json!({}))));
    assert!(!validator.is_valid(&nested(MAX_DEPTH, json!({}))));
    assert_eq!(
        validator.problems(&nested(MAX_DEPTH, json!({})))[0].keyword,
        "depth"
    );
    let found = validator.problems(&nested(MAX_DEPTH, json!(1)));
    assert_eq!(found[0].path.len(), MAX_DEPTH);
    Validator::new(nested(MAX_DEPTH + 1, json!({}))).unwrap_err();
}

#[test]
fn long_chains_find_room_on_the_stack() {
    let mut definitions = serde_json::Map::new();
    for number in 0..2000 {
        let next = json!({"$ref": format!("#/$defs/n{}", number + 1)});
        definitions.insert(format!("n{number}"), json!({"allOf": [next]}));
    }
    let last = json!({"properties": {"next": {"$ref": "#/$defs/n0"}}, "type": "object"});
    definitions.insert("n2000".to_owned(), last);
    let schema = json!({"$ref": "#/$defs/n0", "$defs": definitions});
    let validator = Validator::new(schema).unwrap();
    assert!(validator.is_valid(&nested(3, json!({}))));
    assert!(!validator.is_valid(&nested(3, json!(1))));
    assert_eq!(validator.problems(&nested(3, json!(1)))[0].keyword, "type");
}

#[test]
fn exponentially_many_reasons_are_one() {
    let node = json!({"$ref": "#/$defs/node"});
    let half = |kind: &str| json!({"properties": {"kind": {"const": kind}, "next": node}, "type": "object"});
    let schema =
        json!({"$ref": "#/$defs/node", "$defs": {"node": {"anyOf": [half("a"), half("b")]}}});
    let validator = Validator::new(schema).unwrap();
    let shallow = validator.problems(&nested(3, json!(1)));
    assert!(
        shallow
            .iter()
            .all(|problem| problem.keyword == "type" && problem.in_union)
    );
    let deep = validator.problems(&nested(100, json!(1)));
    assert_eq!((deep.len(), deep[0].keyword.as_str()), (1, "schema"));
    assert!(validator.is_valid(&nested(100, json!({}))));
}

#[test]
fn references_lead_to_one_place_on_few_ways() {
    let leading = |pair: &dyn Fn(Value) -> Value, to: &dyn Fn(usize) -> Value| {
        let definition = |number: usize| (format!("n{number}"), pair(to(number + 1)));
        let mut definitions: serde_json::Map<_, _> = (0..28).map(definition).collect();
        definitions.insert("n28".to_owned(), json!({"$anchor": "n28"}));
        for (name, definition) in &mut definitions {
            definition["$anchor"] = json!(name);
        }
        Validator::new(json!({"properties": {"a": to(0)}, "$defs": definitions}))
    };
    let pointer = |number: usize| json!({"$ref": format!("#/$defs/n{number}")});
    let escaped = |number: usize| json!({"$ref": format!("#/%24defs/%6E{number}")});
    let anchor = |number: usize| json!({"$ref": format!("#n{number}")});
    let to: [&dyn Fn(usize) -> Value; 3] = [&pointer, &escaped, &anchor];
    for to in to {
        for pair in ["allOf", "anyOf", "oneOf"] {
            let error = leading(&|next| json!({pair: [next.clone(), next]}), to).unwrap_err();
            assert!(error.message.contains("too many ways"), "{error:?}");
        }
        let below = |next: Value| {
            let inner = json!({"properties": {"a": next}});
            json!({"allOf": [inner.clone(), inner]})
        };
        assert!(leading(&below, to).is_err());
        assert!(leading(&|next| json!({"if": next.clone(), "then": next}), to).is_err());
        let apart = |next: Value| json!({"properties": {"a": next.clone(), "b": next}});
        assert!(leading(&apart, to).is_ok());
    }
}

#[test]
fn a_schema_that_refers_to_itself_alone_ends() {
    for schema in [
        json!({"$ref": "#"}),
        json!({"allOf": [{"$ref": "#/$defs/a"}], "$defs": {"a": {"allOf": [{"$ref": "#"}]}}}),
        json!({"$dynamicRef": "#n", "$dynamicAnchor": "n"}),
        json!({"not": {"$ref": "#"}}),
    ] {
        if let Ok(validator) = Validator::new(schema) {
            assert!(validator.problems(&json!({"next": [1]})).len() <= 1);
        }
    }
}

#[test]
fn doubling_references_take_little_time() {
    for reference in [json!({"$ref": "#/$defs/n"}), json!({"$dynamicRef": "#n"})] {
        let schema = json!({
            "$ref": "#/$defs/n",
            "$defs": {"n": {"$dynamicAnchor": "n", "anyOf": [
                {"properties": {"next": reference, "kind": {"const": 1}}, "required": ["kind"], "type": "object"},
                {"properties": {"next": reference}, "type": "object"},
            ]}},
        });
        let validator = Validator::new(schema).unwrap();
        assert!(!validator.is_valid(&nested(100, json!(1))));
        assert!(!validator.problems(&nested(100, json!(1))).is_empty());
    }
}

#[test]
fn patterns_take_linear_time() {
    let validator = Validator::new(json!({"pattern": "^(a+)+$"})).unwrap();
    let text = "a".repeat(1_000_000) + "!";
    assert!(!validator.is_valid(&Value::from(text)));
}

#[test]
fn answers_are_bounded() {
    let validator =
        Validator::new(json!({"items": {"type": "string"}, "additionalProperties": false}))
            .unwrap();
    let items: Value = (0..1000).collect();
    assert_eq!(validator.problems(&items).len(), MAX_PROBLEMS);
    let fields: Value = (0..1000)
        .map(|number| (number.to_string(), number))
        .collect();
    let found = validator.problems(&fields);
    assert_eq!(found.len(), MAX_PROBLEMS);
}

#[test]
fn formats_and_contents_are_not_asserted() {
    let schema = json!({"$schema": "http://json-schema.org/draft-07/schema#", "format": "email", "contentMediaType": "application/json", "contentEncoding": "base64"});
    assert!(
        Validator::new(schema)
            .unwrap()
            .is_valid(&json!("{ no address"))
    );
}

#[test]
fn integers_of_any_size_are_exact() {
    let limit: Value = "36893488147419103232".parse().unwrap();
    let next: Value = "36893488147419103233".parse().unwrap();
    let validator = Validator::new(json!({"type": "integer", "maximum": limit})).unwrap();
    assert!(validator.is_valid(&limit));
    assert!(!validator.is_valid(&next));
    assert_eq!(validator.problems(&next)[0].expected, limit);
}

#[test]
fn one_reason_is_reported_at_once_and_of_several_none_is_chosen() {
    let validator = Validator::new(json!({
        "properties": {"a": {"type": "integer", "minimum": 1}},
        "additionalProperties": {"type": "null"},
    }))
    .unwrap();
    assert_eq!(validator.matches(&&json!({"a": 1}), 1), Some(true));
    assert_eq!(validator.matches(&&json!({"a": 0}), 1), Some(false));
    assert_eq!(validator.only_problem(&&json!({"a": 1}), 1), None);
    let wrong = json!({"a": 0});
    let problem = validator.only_problem(&&wrong, 1).unwrap();
    assert_eq!([problem], *validator.problems(&wrong));
    assert_eq!(validator.only_problem(&&json!({"c": 0, "b": 0}), 1), None);
}

#[test]
fn what_needs_room_on_the_stack_is_not_looked_at_in_place() {
    let node = json!({"allOf": [{"$ref": "#/$defs/node"}]});
    let schema = json!({"$ref": "#/$defs/node", "$defs": {"node": {"properties": {"next": node}}}});
    let validator = Validator::new(schema).unwrap();
    let deep = nested(MAX_DEPTH, json!(1));
    assert_eq!(validator.matches(&&deep, MAX_DEPTH), None);
    assert!(validator.is_valid(&deep));
    assert_eq!(validator.only_problem(&&json!(1), 0), None);
}

#[test]
fn patterns_that_need_backtracking_are_patterns() {
    for pattern in ["", "^a", "^(?=a)b", r"(a)\1", r"\p{Lu}", "(?<!a)b"] {
        assert!(is_pattern(pattern), "{pattern}");
    }
    for pattern in ["(", "[a", "*a", "a{2,1}"] {
        assert!(!is_pattern(pattern), "{pattern}");
    }
}
