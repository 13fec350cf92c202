//! Schemas as the OpenAPI document writes them: whether a value fits one, and values made from one.
//!
//! Always true: a word of JSON Schema that is not known here is a panic, so no rule is passed over in silence. An
//! object with described fields has those and no others: an answer's undocumented field is a mistake too.

use domain::Timestamp;
use proptest::{collection, option, prelude::*};
use serde_json::{Map, Number, Value, json};
use std::collections::{BTreeMap, BTreeSet};
use uuid::Uuid;

#[derive(Debug, Clone)]
pub enum Schema {
    Any,
    Null,
    Boolean,
    Integer {
        least: Option<i64>,
    },
    Number,
    Text(Text),
    Array {
        items: Box<Schema>,
        most: usize,
    },
    Object(Fields),
    /// At least one of them fits.
    Either(Vec<Schema>),
}

#[derive(Debug, Clone, Default)]
pub struct Text {
    words: Vec<String>,
    format: String,
    longest: Option<usize>,
}

#[derive(Debug, Clone, Default)]
pub struct Fields {
    of: BTreeMap<String, Schema>,
    needed: BTreeSet<String>,
    /// Nothing is said about its fields.
    open: bool,
}

/// Words for people, and bounds of what comes in that an answer cannot break.
const SAID_FOR_PEOPLE: [&str; 7] = [
    "description",
    "example",
    "examples",
    "title",
    "minItems",
    "minLength",
    "maximum",
];

impl Schema {
    pub fn read(document: &Value, schema: &Value) -> Self {
        let words = schema.as_object().expect("a schema is an object");
        for word in words.keys() {
            let known = [
                "$ref",
                "oneOf",
                "allOf",
                "type",
                "enum",
                "format",
                "maxLength",
                "items",
                "maxItems",
                "properties",
                "required",
                "minimum",
                "additionalProperties",
                "propertyNames",
            ];
            let known = known.contains(&word.as_str()) || SAID_FOR_PEOPLE.contains(&word.as_str());
            assert!(known, "the reader of schemas does not know {word:?}");
        }
        if let Some(link) = schema["$ref"].as_str() {
            let name = link.rsplit('/').next().unwrap_or_default();
            return Self::read(document, &document["components"]["schemas"][name]);
        }
        let all = |word: &str| -> Option<Vec<Schema>> {
            let parts = schema[word].as_array()?;
            Some(parts.iter().map(|part| Self::read(document, part)).collect())
        };
        if let Some(choices) = all("oneOf") {
            return Schema::Either(choices);
        }
        if let Some(parts) = all("allOf") {
            return Schema::Object(parts.into_iter().fold(Fields::default(), Fields::with));
        }
        match &schema["type"] {
            Value::Null => Schema::Any,
            Value::String(one) => Self::of_type(document, schema, one),
            Value::Array(several) => {
                let names = several.iter().filter_map(Value::as_str);
                Schema::Either(names.map(|one| Self::of_type(document, schema, one)).collect())
            }
            other => panic!("{other} is no type"),
        }
    }

    fn of_type(document: &Value, schema: &Value, name: &str) -> Self {
        let count = |word: &str| schema[word].as_u64().and_then(|n| usize::try_from(n).ok());
        let texts = |word: &str| -> Vec<String> {
            let all = schema[word].as_array().into_iter().flatten();
            all.filter_map(Value::as_str).map(str::to_owned).collect()
        };
        match name {
            "null" => Schema::Null,
            "boolean" => Schema::Boolean,
            "integer" => Schema::Integer {
                least: schema["minimum"].as_i64(),
            },
            "number" => Schema::Number,
            "string" => Schema::Text(Text {
                words: texts("enum"),
                format: schema["format"].as_str().unwrap_or_default().to_owned(),
                longest: count("maxLength"),
            }),
            "array" => Schema::Array {
                items: Box::new(Self::read(document, &schema["items"])),
                most: count("maxItems").unwrap_or(usize::MAX),
            },
            "object" => {
                let described = schema["properties"].as_object();
                let of = described.into_iter().flatten();
                Schema::Object(Fields {
                    of: of
                        .map(|(name, field)| (name.clone(), Self::read(document, field)))
                        .collect(),
                    needed: texts("required").into_iter().collect(),
                    open: described.is_none(),
                })
            }
            other => panic!("{other} is no type"),
        }
    }

    /// What of the value does not fit, and where.
    pub fn misfit(&self, value: &Value, at: &str) -> Option<String> {
        let not = |what: &str| Some(format!("{at} is {value}, not {what}"));
        match (self, value) {
            (Schema::Any, _)
            | (Schema::Null, Value::Null)
            | (Schema::Boolean, Value::Bool(_))
            | (Schema::Number, Value::Number(_)) => None,
            (Schema::Integer { least }, Value::Number(n)) if n.is_i64() || n.is_u64() => {
                match (least, n.as_i64()) {
                    (Some(least), Some(n)) if n < *least => not(&format!("at least {least}")),
                    _ => None,
                }
            }
            (Schema::Text(text), Value::String(given)) => text.misfit(given).and_then(|what| not(&what)),
            (Schema::Array { items, most }, Value::Array(given)) => {
                if given.len() > *most {
                    return not(&format!("at most {most} items"));
                }
                let mut each = given.iter().enumerate();
                each.find_map(|(i, item)| items.misfit(item, &format!("{at}[{i}]")))
            }
            (Schema::Object(fields), Value::Object(given)) => fields.misfit(given, at),
            (Schema::Either(choices), _) => {
                let misfits: Vec<_> = choices
                    .iter()
                    .map_while(|choice| choice.misfit(value, at))
                    .collect();
                (misfits.len() == choices.len()).then(|| misfits.join(", and "))
            }
            _ => not(&format!("{self:?}")),
        }
    }

    /// Values that fit. `name` is the field they are for: some fields are worth more than random text.
    pub fn values(&self, name: &str) -> BoxedStrategy<Value> {
        match self {
            Schema::Any => junk().boxed(),
            Schema::Null => Just(Value::Null).boxed(),
            Schema::Boolean => any::<bool>().prop_map(Value::Bool).boxed(),
            Schema::Integer { least } => {
                let least = least.unwrap_or(-3);
                prop_oneof![4 => least..100, 1 => least..i64::MAX]
                    .prop_map(Value::from)
                    .boxed()
            }
            Schema::Number => prop_oneof![4 => 0.0..10.0, 1 => any::<f64>()]
                .prop_map(|n| Number::from_f64(n).map_or(json!(1), Value::Number))
                .boxed(),
            Schema::Text(text) => text.values(name),
            Schema::Array { items, .. } => collection::vec(items.values(name), 0..4)
                .prop_map(Value::Array)
                .boxed(),
            Schema::Object(fields) => fields.values(),
            Schema::Either(choices) => {
                let each: Vec<_> = choices.iter().map(|choice| choice.values(name)).collect();
                proptest::strategy::Union::new(each).boxed()
            }
        }
    }
}

impl Text {
    fn misfit(&self, given: &str) -> Option<String> {
        let fine = match self.format.as_str() {
            "" => true,
            "uuid" => Uuid::try_parse(given).is_ok(),
            "date-time" => given.parse::<Timestamp>().is_ok() && given.ends_with('Z'),
            other => panic!("the reader of schemas does not know the format {other:?}"),
        };
        if !fine {
            return Some(self.format.clone());
        }
        if !self.words.is_empty() && !self.words.iter().any(|word| word == given) {
            return Some(format!("one of {:?}", self.words));
        }
        let longest = self.longest.filter(|longest| given.chars().count() > *longest)?;
        Some(format!("at most {longest} characters"))
    }

    fn values(&self, name: &str) -> BoxedStrategy<Value> {
        if !self.words.is_empty() {
            return proptest::sample::select(self.words.clone())
                .prop_map(Value::String)
                .boxed();
        }
        match self.format.as_str() {
            "uuid" => any::<u128>().prop_map(|n| json!(Uuid::from_u128(n))).boxed(),
            "date-time" => (0..4_102_444_800_000_i64)
                .prop_map(|ms| json!(Timestamp::from_millis(ms)))
                .boxed(),
            _ => {
                let longest = self.longest.unwrap_or(usize::MAX);
                let likely = proptest::sample::select(likely(name));
                prop_oneof![5 => likely.prop_map(str::to_owned), 3 => "\\PC{0,12}", 1 => any_text()]
                    .prop_map(move |text| Value::String(text.chars().take(longest).collect()))
                    .boxed()
            }
        }
    }
}

impl Fields {
    fn with(mut self, part: Schema) -> Self {
        let Schema::Object(part) = part else {
            panic!("allOf joins objects, not {part:?}")
        };
        self.of.extend(part.of);
        self.needed.extend(part.needed);
        self.open |= part.open;
        self
    }

    fn misfit(&self, given: &Map<String, Value>, at: &str) -> Option<String> {
        if self.open {
            return None;
        }
        if let Some(missing) = self.needed.iter().find(|name| !given.contains_key(*name)) {
            return Some(format!("{at} has no {missing}"));
        }
        given.iter().find_map(|(name, value)| match self.of.get(name) {
            Some(field) => field.misfit(value, &format!("{at}.{name}")),
            None => Some(format!("{at} has an undocumented {name}")),
        })
    }

    /// With everything that is needed and some of the rest.
    fn values(&self) -> BoxedStrategy<Value> {
        if self.open {
            return collection::btree_map("[a-z]{1,8}", junk(), 0..3)
                .prop_map(|map| Value::Object(map.into_iter().collect()))
                .boxed();
        }
        let fields: Vec<BoxedStrategy<Option<(String, Value)>>> = self
            .of
            .iter()
            .map(|(name, field)| {
                let given = field.values(name).prop_map({
                    let name = name.clone();
                    move |value| (name.clone(), value)
                });
                match self.needed.contains(name) {
                    true => given.prop_map(Some).boxed(),
                    false => option::weighted(0.25, given).boxed(),
                }
            })
            .collect();
        fields
            .prop_map(|given| Value::Object(given.into_iter().flatten().collect()))
            .boxed()
    }
}

/// Anything that is JSON.
pub fn junk() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        Just(json!(1e300)),
        any_text().prop_map(Value::from),
    ];
    leaf.prop_recursive(3, 12, 3, |inner| {
        prop_oneof![
            collection::vec(inner.clone(), 0..3).prop_map(Value::from),
            collection::btree_map("[a-z]{1,6}", inner, 0..3)
                .prop_map(|map| Value::Object(map.into_iter().collect())),
        ]
    })
}

/// Text that has broken programs before.
pub fn any_text() -> impl Strategy<Value = String> {
    prop_oneof![
        3 => any::<String>(),
        1 => Just(String::new()),
        1 => Just("nul\0nul".to_owned()),
        1 => Just("'; drop table notifications; --".to_owned()),
        1 => Just("x".repeat(5_000)),
        1 => Just("\u{202e}𝔘🚢\u{0}".to_owned()),
        1 => Just("18446744073709551616".to_owned()),
    ]
}

/// What a field or parameter of this name may well hold.
pub fn likely(name: &str) -> Vec<&'static str> {
    match name {
        "to" | "address" => vec!["a@example.com", "ops@example.com"],
        "listName" | "list" => vec!["ops", "nobody"],
        "providerId" | "provider" | "id" => vec!["mail", "hook", "new-one"],
        "kind" => vec!["test-mail", "test-hook", "capture", "NotifyDeliver", "pigeon"],
        "site" | "sourceSiteId" => vec!["north", "south"],
        "status" => vec!["Parked", "Pending,Retrying", "Delivered", "Submitted", "Lost"],
        "type" => vec!["Email", "Webhook", "Pigeon"],
        "category" => vec!["ExternalSystem", "Notification", "Parcel"],
        "from" | "sendAt" => vec!["2026-01-31T12:00:00Z", "1970-01-01T00:00:00Z", "yesterday"],
        "expiresAt" => vec!["2099-01-31T12:00:00Z", "9999-12-31T23:59:59Z"],
        "limit" => vec!["1", "10", "1000", "0", "-1", "1001", "99999999999999999999"],
        "stuck" | "retried" => vec!["true", "false", "maybe"],
        "interval" | "cap" | "maxAge" => vec!["1s", "30s", "2h", "18000000000000000000s", "0s"],
        "role" => vec!["viewer", "operator", "admin"],
        "password" => vec!["correct horse battery", "short"],
        "correlation" | "trackedOperationId" => vec!["0190b6d8-7c1e-7a3e-8f5c-2d1f0a9b8c7d", "x"],
        "tenant" => vec!["default", "other", "nobody"],
        _ => vec!["x", "a name", "plant-7"],
    }
}
