"""Schemas that servers and generators write, with arguments that fit them and that do not."""


def fields(props=None, **more):
    return {"type": "object", "properties": props or {}, **more}


def one(schema, valid=(), invalid=()):
    return (
        fields({"a": schema}),
        [{"a": value} for value in valid],
        [{"a": value} for value in invalid],
    )


CASES = {
    "mutual_cycle": (
        fields(
            {"a": {"$ref": "#/$defs/A"}},
            **{
                "$defs": {
                    "A": {"type": "object", "properties": {"b": {"$ref": "#/$defs/B"}}},
                    "B": {
                        "type": "object",
                        "properties": {"a": {"$ref": "#/$defs/A"}, "n": {"type": "integer"}},
                    },
                }
            },
        ),
        [{"a": {"b": {"n": 1}}}],
        [{"a": {"b": {"n": "x"}}}],
    ),
    "nested_defs": (
        fields(
            {"a": {"$ref": "#/$defs/A/$defs/B"}},
            **{"$defs": {"A": {"type": "object", "$defs": {"B": {"type": "string"}}}}},
        ),
        [{"a": "x"}],
        [{"a": 1}],
    ),
    "defs_in_property": (
        fields(
            {
                "a": {
                    "type": "object",
                    "$defs": {"N": {"type": "integer"}},
                    "properties": {"n": {"$ref": "#/properties/a/$defs/N"}},
                }
            }
        ),
        [{"a": {"n": 1}}],
        [{"a": {"n": "x"}}],
    ),
    "self_root": (
        fields({"a": {"$ref": "#"}, "n": {"type": "integer"}}),
        [{"a": {"n": 1}}],
        [{"a": {"n": "x"}}],
    ),
    "root_ref": (
        {
            "$ref": "#/$defs/Args",
            "$defs": {"Args": fields({"a": {"type": "string"}}, required=["a"])},
        },
        [{"a": "x"}],
        [{}],
    ),
    "root_allof_ref": (
        {
            "allOf": [{"$ref": "#/$defs/Args"}],
            "$defs": {"Args": fields({"a": {"type": "string"}}, required=["a"])},
        },
        [{"a": "x"}],
        [{}],
    ),
    "const_no_type": one({"const": "on"}, ["on"], ["off"]),
    "const_null": one({"const": None}, [None], ["x"]),
    "const_object": one({"const": {"k": 1}}, [{"k": 1}], [{"k": 2}]),
    "const_number": one({"const": 3}, [3], ["3", 4]),
    "const_bool": one({"const": True}, [True], [1, "true"]),
    "type_list3": one(
        {"type": ["string", "integer", "null"], "minLength": 2}, ["ab", 1, None], ["a", 1.5]
    ),
    "type_list_obj_arr": one(
        {
            "type": ["object", "array"],
            "items": {"type": "string"},
            "properties": {"k": {"type": "integer"}},
        },
        [{"k": 1}, ["x"]],
        [{"k": "x"}, [1], "s"],
    ),
    "ap_schema": one(
        {"type": "object", "additionalProperties": {"type": "integer"}}, [{"x": 1}], [{"x": "1"}]
    ),
    "ap_ref": (
        fields(
            {"a": {"type": "object", "additionalProperties": {"$ref": "#/$defs/V"}}},
            **{
                "$defs": {
                    "V": {
                        "type": "object",
                        "properties": {"n": {"type": "integer"}},
                        "required": ["n"],
                    }
                }
            },
        ),
        [{"a": {"x": {"n": 1}}}],
        [{"a": {"x": {}}}],
    ),
    "ap_false_props": one(
        {"type": "object", "properties": {"k": {"type": "string"}}, "additionalProperties": False},
        [{"k": "x"}],
        [{"z": 1}],
    ),
    "ap_false_noprops": one({"type": "object", "additionalProperties": False}, [{}], [{"z": 1}]),
    "prefix": one(
        {"type": "array", "prefixItems": [{"type": "string"}, {"type": "integer"}], "items": False},
        [["a", 1], ["a"]],
        [[1], ["a", 1, 2]],
    ),
    "prefix_open": one(
        {
            "type": "array",
            "prefixItems": [{"type": "number"}, {"type": "number"}],
            "minItems": 2,
            "maxItems": 2,
        },
        [[1, 2.5]],
        [[1], ["a", 1], [1, 2, 3]],
    ),
    "tuple_draft7": one(
        {
            "type": "array",
            "items": [{"type": "string"}, {"type": "integer"}],
            "additionalItems": False,
        },
        [["a", 1]],
        [[1], ["a", 1, 2]],
    ),
    "tuple_additional": one(
        {"type": "array", "items": [{"type": "string"}], "additionalItems": {"type": "integer"}},
        [["a", 1, 2]],
        [["a", "b"]],
    ),
    "bool_true": one(True, [1, "x", None]),
    "bool_false": (fields({"a": False, "b": {"type": "string"}}), [{"b": "x"}], [{"a": 1}]),
    "items_true": one({"type": "array", "items": True}, [[1, "x"]], [1]),
    "ref_sibling": (
        fields(
            {"a": {"$ref": "#/$defs/S", "description": "mine", "minLength": 3}},
            **{"$defs": {"S": {"type": "string", "description": "theirs", "maxLength": 5}}},
        ),
        [{"a": "abc"}],
        [{"a": "ab"}, {"a": "abcdef"}],
    ),
    "ref_sibling_type": (
        fields(
            {"a": {"$ref": "#/$defs/S", "type": "string", "enum": ["x"]}},
            **{"$defs": {"S": {"enum": ["x", "y"]}}},
        ),
        [{"a": "x"}],
        [{"a": "y"}],
    ),
    "ref_default": (
        fields(
            {"a": {"$ref": "#/$defs/Color", "default": "red"}},
            **{"$defs": {"Color": {"type": "string", "enum": ["red", "blue"], "title": "Color"}}},
        ),
        [{"a": "red"}],
        [{"a": "green"}],
    ),
    "allof_ref_default": (
        fields(
            {"a": {"allOf": [{"$ref": "#/$defs/Color"}], "default": "red", "description": "d"}},
            **{"$defs": {"Color": {"type": "string", "enum": ["red", "blue"]}}},
        ),
        [{"a": "red"}],
        [{"a": "green"}],
    ),
    "not_type": one({"not": {"type": "string"}}, [1, None], ["x"]),
    "not_enum": one({"type": "string", "not": {"enum": ["x"]}}, ["y"], ["x"]),
    "not_required": (
        fields(
            {"a": {"type": "string"}, "b": {"type": "string"}}, **{"not": {"required": ["a", "b"]}}
        ),
        [{"a": "x"}],
        [{"a": "x", "b": "y"}],
    ),
    "ifthen": (
        fields(
            {"kind": {"enum": ["a", "b"]}, "v": {"type": "string"}},
            **{
                "if": {"properties": {"kind": {"const": "a"}}, "required": ["kind"]},
                "then": {"required": ["v"]},
                "else": {"properties": {"v": False}},
            },
        ),
        [{"kind": "a", "v": "x"}, {"kind": "b"}],
        [{"kind": "a"}, {"kind": "b", "v": "x"}],
    ),
    "if_nested": one(
        {
            "type": "object",
            "properties": {"k": {"type": "string"}},
            "if": {"required": ["k"]},
            "then": {"required": ["z"]},
        },
        [{"k": "x", "z": 1}, {}],
        [{"k": "x"}],
    ),
    "huge_enum": one(
        {"type": "string", "enum": [f"value-{i}" for i in range(1500)]}, ["value-7"], ["x"]
    ),
    "enum_mixed": one(
        {"enum": ["a", 1, None, True, 1.5]}, ["a", 1, None, True, 1.5], ["b", 2, False]
    ),
    "enum_int": one({"type": "integer", "enum": [1, 2, 3]}, [1], [4, "1"]),
    "enum_objects": one({"enum": [{"k": 1}, [1]]}, [{"k": 1}, [1]], [{"k": 2}]),
    "enum_single_null": one({"enum": [None]}, [None], [0]),
    "enum_bool": one({"type": "boolean", "enum": [True]}, [True], [False]),
    "enum_empty": one({"type": "string", "enum": []}),
    "enum_dup": one({"type": "string", "enum": ["a", "a", "b"]}, ["a"], ["c"]),
    "draft4_bounds": one(
        {
            "type": "number",
            "minimum": 0,
            "exclusiveMinimum": True,
            "maximum": 10,
            "exclusiveMaximum": False,
        },
        [1, 10],
        [0, 11],
    ),
    "multiple_of": one({"type": "number", "multipleOf": 0.01}, [0.05], [0.005]),
    "bigint_bounds": one(
        {"type": "integer", "minimum": -9007199254740991, "maximum": 9007199254740991}, [1], ["x"]
    ),
    "float_int_bounds": one({"type": "integer", "minimum": 1.0, "maximum": 10.0}, [1, 10], [0, 11]),
    "unicode_keys": (
        fields({"größe": {"type": "integer"}, "名前": {"type": "string"}}, required=["größe"]),
        [{"größe": 1}],
        [{"größe": "x"}, {}],
    ),
    "emoji_key": (fields({"🙂": {"type": "integer"}}), [{"🙂": 1}], [{"🙂": "x"}]),
    "required_empty": (fields({"a": {"type": "string"}}, required=[]), [{}], [{"a": 1}]),
    "required_null": (fields({"a": {"type": "string"}}, required=None), [{}], [{"a": 1}]),
    "required_unlisted": (fields({"a": {"type": "string"}}, required=["b"]), [{"b": 1}], [{}]),
    "required_dup": (fields({"a": {"type": "string"}}, required=["a", "a"]), [{"a": "x"}], [{}]),
    "required_draft3": (
        fields(
            {"a": {"type": "string", "required": True}, "b": {"type": "string", "required": False}}
        ),
        [{"a": "x"}],
        [{}],
    ),
    "default_wrong": one({"type": "integer", "default": "ten"}, [1], ["x"]),
    "default_undefined_obj": one({"type": "object", "default": None, "properties": {}}, [{}], [1]),
    "nullable": one({"type": "string", "nullable": True}, ["x", None], [1]),
    "nullable_enum": one({"type": "string", "nullable": True, "enum": ["a", "b"]}, ["a"], ["c"]),
    "nullable_ref": (
        fields(
            {"a": {"$ref": "#/$defs/S", "nullable": True}}, **{"$defs": {"S": {"type": "string"}}}
        ),
        [{"a": "x"}],
        [{"a": 1}],
    ),
    "optional_anyof_ref": (
        fields(
            {
                "a": {
                    "anyOf": [{"$ref": "#/$defs/M"}, {"type": "null"}],
                    "default": None,
                    "title": "A",
                }
            },
            **{
                "$defs": {
                    "M": {
                        "type": "object",
                        "properties": {"n": {"type": "integer"}},
                        "required": ["n"],
                        "title": "M",
                    }
                }
            },
        ),
        [{"a": None}, {"a": {"n": 1}}],
        [{"a": {}}],
    ),
    "discriminator": (
        fields(
            {
                "a": {
                    "discriminator": {
                        "propertyName": "kind",
                        "mapping": {"cat": "#/$defs/Cat", "dog": "#/$defs/Dog"},
                    },
                    "oneOf": [{"$ref": "#/$defs/Cat"}, {"$ref": "#/$defs/Dog"}],
                }
            },
            **{
                "$defs": {
                    "Cat": {
                        "type": "object",
                        "properties": {
                            "kind": {"const": "cat", "type": "string"},
                            "lives": {"type": "integer"},
                        },
                        "required": ["kind"],
                    },
                    "Dog": {
                        "type": "object",
                        "properties": {"kind": {"const": "dog", "type": "string"}},
                        "required": ["kind"],
                    },
                }
            },
        ),
        [{"a": {"kind": "cat", "lives": 9}}],
        [{"a": {"kind": "fish"}}],
    ),
    "anchor": (
        fields({"a": {"$ref": "#leaf"}}, **{"$defs": {"L": {"$anchor": "leaf", "type": "string"}}}),
        [{"a": "x"}],
        [{"a": 1}],
    ),
    "dynamic_ref": (
        fields(
            {"a": {"$dynamicRef": "#node"}},
            **{
                "$defs": {
                    "N": {
                        "$dynamicAnchor": "node",
                        "type": "object",
                        "properties": {"c": {"type": "array", "items": {"$dynamicRef": "#node"}}},
                    }
                }
            },
        ),
        [{"a": {"c": [{}]}}],
        [{"a": 1}],
    ),
    "reference_to_document": (
        fields(
            {"a": {"$ref": "item.json"}},
            **{
                "$id": "https://example.com/root.json",
                "$defs": {"I": {"$id": "item.json", "type": "string"}},
            },
        ),
        [{"a": "x"}],
        [{"a": 1}],
    ),
    "pattern_props": one(
        {"type": "object", "patternProperties": {"^x-": {"type": "string"}}},
        [{"x-1": "a"}],
        [{"x-1": 1}],
    ),
    "pattern_props_closed": one(
        {
            "type": "object",
            "patternProperties": {"^x-": {"type": "string"}},
            "additionalProperties": False,
        },
        [{"x-1": "a"}],
        [{"x-1": 1}, {"y": 1}],
    ),
    "pattern_props_root": ({"type": "object", "patternProperties": {"^(.*)$": {}}}, [{"x": 1}], []),
    "contains": one(
        {"type": "array", "contains": {"type": "string"}, "minContains": 2, "maxContains": 3},
        [["a", "b", 1]],
        [["a"]],
    ),
    "unique": one(
        {"type": "array", "items": {"type": "string"}, "uniqueItems": True},
        [["a", "b"]],
        [["a", "a"]],
    ),
    "array_no_items": one({"type": "array"}, [[1]], [1]),
    "array_in_list": one({"type": ["array", "null"]}, [None, [1]], ["x"]),
    "property_names": one(
        {
            "type": "object",
            "propertyNames": {"pattern": "^[a-z]+$"},
            "additionalProperties": {"type": "string"},
        },
        [{"k": "x"}],
        [{"K": "x"}],
    ),
    "min_props": one({"type": "object", "minProperties": 1, "maxProperties": 2}, [{"k": 1}], [{}]),
    "dependent": (
        fields({"a": {"type": "string"}, "b": {"type": "string"}}, dependentRequired={"a": ["b"]}),
        [{"a": "x", "b": "y"}, {"b": "x"}],
        [{"a": "x"}],
    ),
    "dependencies7": (
        fields({"a": {"type": "string"}, "b": {"type": "string"}}, dependencies={"a": ["b"]}),
        [{"a": "x", "b": "y"}],
        [{"a": "x"}],
    ),
    "dependencies_schema": (
        fields({"a": {"type": "string"}}, dependencies={"a": {"required": ["c"]}}),
        [{"a": "x", "c": 1}],
        [{"a": "x"}],
    ),
    "dependent_renamed": (
        fields(
            {"$a": {"type": "string"}, "b c": {"type": "string"}}, dependentRequired={"$a": ["b c"]}
        ),
        [{"$a": "x", "b c": "y"}],
        [{"$a": "x"}],
    ),
    "unevaluated": (
        fields(
            {"a": {"type": "string"}},
            allOf=[{"properties": {"b": {"type": "string"}}}],
            unevaluatedProperties=False,
        ),
        [{"a": "x", "b": "y"}],
        [{"c": 1}],
    ),
    "long_names": (
        fields(
            {"n" * 64 + "_one": {"type": "string"}, "n" * 64 + "_two": {"type": "integer"}},
            required=["n" * 64 + "_one"],
        ),
        [{"n" * 64 + "_one": "x"}],
        [{"n" * 64 + "_two": 1}],
    ),
    "collide": (
        fields(
            {
                "a b": {"type": "string"},
                "a_b": {"type": "integer"},
                "a-b": {"type": "boolean"},
                "a.b": {"type": "number"},
                "$a_b": {"type": "string"},
            }
        ),
        [{"a b": "x", "a_b": 1, "a-b": True, "a.b": 1.5, "$a_b": "y"}],
        [{"a b": 1}],
    ),
    "empty_key": (fields({"": {"type": "string"}}), [{"": "x"}], [{"": 1}]),
    "proto_key": (
        fields({"__proto__": {"type": "string"}, "constructor": {"type": "string"}}),
        [{"__proto__": "x"}],
        [{"constructor": 1}],
    ),
    "digit_key": (
        fields({"2fa": {"type": "string"}, "3d": {"type": "boolean"}}),
        [{"2fa": "x"}],
        [{"2fa": 1}],
    ),
    "key_named_ref": (
        fields(
            {
                "$ref": {"type": "string"},
                "type": {"type": "string"},
                "properties": {"type": "object"},
            }
        ),
        [{"$ref": "x", "type": "y", "properties": {}}],
        [{"type": 1}],
    ),
    "key_named_defs": (
        fields(
            {
                "$defs": {"type": "string"},
                "enum": {"type": "array", "items": {"type": "string"}},
                "const": {"type": "integer"},
            }
        ),
        [{"$defs": "x", "enum": ["a"]}],
        [{"enum": 1}],
    ),
    "default_like_schema": one(
        {"type": "object", "default": {"$ref": "#/nowhere", "type": "x"}}, [{}], [1]
    ),
    "examples_like": one(
        {"type": "string", "examples": [{"$ref": "#/x"}], "example": {"enum": 1}}, ["x"], [1]
    ),
    "union_root": (
        {
            "type": "object",
            "anyOf": [
                fields({"a": {"type": "string"}}, required=["a"]),
                fields({"b": {"type": "integer"}}, required=["b"]),
            ],
        },
        [{"a": "x"}, {"b": 1}],
        [{}],
    ),
    "union_root_oneof": (
        {
            "oneOf": [
                fields({"kind": {"const": "a"}, "v": {"type": "string"}}, required=["kind"]),
                fields({"kind": {"const": "b"}, "v": {"type": "integer"}}, required=["kind"]),
            ]
        },
        [{"kind": "a", "v": "x"}, {"kind": "b", "v": 1}],
        [{"kind": "a", "v": 1}],
    ),
    "intersection_root": (
        {
            "allOf": [
                fields({"a": {"type": "string"}}, required=["a"]),
                fields({"b": {"type": "integer"}}),
            ]
        },
        [{"a": "x", "b": 1}],
        [{"b": 1}],
    ),
    "zod_undefined": one({"anyOf": [{"not": {}}, {"type": "string"}]}, ["x"], [1]),
    "zod_never": (fields({"a": {"not": {}}, "b": {"type": "string"}}), [{"b": "x"}], [{"a": 1}]),
    "zod_date": one(
        {"type": "string", "format": "date-time", "pattern": "^\\d{4}"},
        ["2020-01-01T00:00:00Z"],
        [1],
    ),
    "zod_lazy": (
        fields({"a": {"type": "array", "items": {"$ref": "#/properties/a"}}}),
        [{"a": [[], []]}],
        [{"a": [1]}],
    ),
    "pydantic_decimal": one(
        {
            "anyOf": [
                {"type": "number"},
                {"type": "string", "pattern": "^(?!^[-+.]*$)[+-]?0*\\d*\\.?\\d*$"},
            ]
        },
        [1, "1.5"],
        [None],
    ),
    "pattern_p": one({"type": "string", "pattern": "^\\p{L}+$"}, ["äb"], ["1"]),
    "pattern_bad": one({"type": "string", "pattern": "([a-z"}, ["x"]),
    "pattern_js": one({"type": "string", "pattern": "^(?<year>\\d{4})$"}, ["2020"], ["x"]),
    "pattern_slash": one({"type": "string", "pattern": "^\\/[a-z]\\-$"}, ["/a-"], ["x"]),
    "format_unknown": one({"type": "string", "format": "phone"}, ["x"], [1]),
    "content": one(
        {"type": "string", "contentEncoding": "base64", "contentMediaType": "image/png"},
        ["aa"],
        [1],
    ),
    "type_upper": one({"type": "STRING"}, ["x"], [1]),
    "type_any": one({"type": "any"}, ["x", 1]),
    "type_file": one({"type": "file"}),
    "type_int": one({"type": "int"}),
    "type_date": one({"type": "date"}),
    "items_null": one({"type": "array", "items": None}, [[1]], [1]),
    "props_null": ({"type": "object", "properties": None}, [{}], []),
    "props_list": ({"type": "object", "properties": []}, [{}], []),
    "empty": ({}, [{}], []),
    "anyof_empty": one({"anyOf": []}),
    "anyof_one": one({"anyOf": [{"type": "string"}], "minLength": 2}, ["ab"], ["a", 1]),
    "anyof_siblings": one(
        {
            "type": "object",
            "properties": {"k": {"type": "string"}},
            "anyOf": [{"required": ["k"]}, {"required": ["z"]}],
        },
        [{"k": "x"}],
        [{}],
    ),
    "anyof_nested_null": one(
        {"anyOf": [{"anyOf": [{"type": "string"}, {"type": "null"}]}, {"type": "integer"}]},
        ["x", None, 1],
        [1.5],
    ),
    "oneof_overlap": one({"oneOf": [{"type": "number"}, {"type": "integer"}]}, [1.5], [1]),
    "oneof_titles": one(
        {
            "oneOf": [
                {"const": "a", "title": "A", "description": "first"},
                {"const": "b", "title": "B"},
            ]
        },
        ["a"],
        ["c"],
    ),
    "allof_conflict": one(
        {"allOf": [{"type": "string", "minLength": 3}, {"maxLength": 5, "pattern": "^a"}]},
        ["abc"],
        ["bcd", "ab"],
    ),
    "allof_impossible": one({"allOf": [{"type": "string"}, {"type": "integer"}]}, [], ["x", 1]),
    "map_of_lists": one(
        {
            "type": "object",
            "additionalProperties": {
                "type": "array",
                "items": {"type": "object", "additionalProperties": {"type": ["string", "null"]}},
            },
        },
        [{"k": [{"z": None}]}],
        [{"k": [{"z": 1}]}],
    ),
    "description_list": one({"type": "string", "description": ["a", "b"]}, ["x"]),
    "title_number": one({"type": "string", "title": 5, "description": None}, ["x"]),
    "ref_percent": (
        fields(
            {"a": {"$ref": "#/definitions/My%20Type~1x"}},
            definitions={"My Type/x": {"type": "string"}},
        ),
        [{"a": "x"}],
        [{"a": 1}],
    ),
    "ref_generics": (
        fields(
            {"a": {"$ref": "#/$defs/Page[Item]"}},
            **{
                "$defs": {
                    "Page[Item]": {
                        "type": "object",
                        "properties": {
                            "items": {"type": "array", "items": {"$ref": "#/$defs/Item"}}
                        },
                    },
                    "Item": {"type": "integer"},
                }
            },
        ),
        [{"a": {"items": [1]}}],
        [{"a": {"items": ["x"]}}],
    ),
    "recursive_generics": (
        fields(
            {"a": {"$ref": "#/$defs/Tree[int]"}},
            **{
                "$defs": {
                    "Tree[int]": {
                        "type": "object",
                        "properties": {
                            "kids": {"type": "array", "items": {"$ref": "#/$defs/Tree[int]"}},
                            "größe x": {"type": "integer"},
                        },
                    }
                }
            },
        ),
        [{"a": {"kids": [{"größe x": 1}]}}],
        [{"a": {"kids": [{"größe x": "y"}]}}],
    ),
    "nested_renames": (
        fields(
            {
                "a": {
                    "type": "array",
                    "items": {
                        "type": "object",
                        "properties": {
                            "x y": {"type": "object", "properties": {"@id": {"type": "integer"}}}
                        },
                    },
                }
            }
        ),
        [{"a": [{"x y": {"@id": 1}}]}],
        [{"a": [{"x y": {"@id": "q"}}]}],
    ),
    "union_renames": (
        fields(
            {
                "a": {
                    "anyOf": [
                        {
                            "type": "object",
                            "properties": {"@id": {"type": "integer"}},
                            "required": ["@id"],
                        },
                        {
                            "type": "object",
                            "properties": {"_id": {"type": "string"}},
                            "required": ["_id"],
                        },
                    ]
                }
            }
        ),
        [{"a": {"@id": 1}}, {"a": {"_id": "x"}}],
        [{"a": {}}],
    ),
    "union_with_default": one(
        {
            "anyOf": [
                {"type": "string"},
                {"type": "array", "items": {"type": "string"}},
                {"type": "null"},
            ],
            "description": "Paths.",
            "default": None,
        },
        ["x", ["x"], None],
        [1],
    ),
    "multiple_of_zero": one({"type": "number", "multipleOf": 0}, [1], ["x"]),
    "properties_named_as_keywords": (
        fields(
            {
                "$ref": {"type": "string"},
                "$defs": {"type": "string"},
                "required": {"type": "boolean"},
                "properties": fields({"type": {"type": "string"}}),
            },
            required=["properties"],
        ),
        [{"$ref": "x", "$defs": "y", "required": True, "properties": {"type": "z"}}],
        [{"$ref": "x"}, {"properties": {"type": 1}}],
    ),
}
deep = {"type": "string"}
for _ in range(40):
    deep = {"type": "object", "properties": {"k": deep}}
CASES["deep"] = (fields({"a": deep}), [{"a": {"k": {}}}], [{"a": 1}])
