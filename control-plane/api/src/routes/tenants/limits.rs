//! The schema of limits, made from the table of limits itself, so that names, bounds and defaults cannot differ from it.

use tidegate_tenancy::{LIMITS, LimitRule, TenantLimits};
use utoipa::openapi::schema::{AdditionalProperties, ObjectBuilder, Schema, SchemaType, Type};
use utoipa::openapi::{KnownFormat, RefOr, SchemaFormat};
use utoipa::{PartialSchema, ToSchema};

/// All limits: what is left out of a request has its default.
pub(crate) struct Limits;

/// Some limits: what is left out stays as it is.
pub(crate) struct SomeLimits;

impl PartialSchema for Limits {
    fn schema() -> RefOr<Schema> {
        object(
            "What a tenant may use. In an answer all are there; in a request what is left out has its default.",
            true,
        )
    }
}

impl ToSchema for Limits {}

impl PartialSchema for SomeLimits {
    fn schema() -> RefOr<Schema> {
        object("Limits to change. What is left out or null stays as it is.", false)
    }
}

impl ToSchema for SomeLimits {}

fn object(about: &str, with_defaults: bool) -> RefOr<Schema> {
    let defaults = TenantLimits::default();
    let start = ObjectBuilder::new()
        .schema_type(SchemaType::Type(Type::Object))
        .description(Some(about))
        .additional_properties(Some(AdditionalProperties::FreeForm(false)));
    let whole = LIMITS.iter().fold(start, |object, rule| {
        object.property(rule.name, number(rule, with_defaults.then(|| (rule.get)(&defaults))))
    });
    whole.build().into()
}

fn number(rule: &LimitRule, default: Option<u64>) -> Schema {
    let LimitRule { unit, why, min, max, .. } = *rule;
    let schema_type = match default {
        Some(_) => SchemaType::Type(Type::Integer),
        None => SchemaType::Array(vec![Type::Integer, Type::Null]),
    };
    let number = ObjectBuilder::new()
        .schema_type(schema_type)
        .format(Some(SchemaFormat::KnownFormat(KnownFormat::Int64)))
        .description(Some(format!("{unit}. {why}")))
        .minimum(Some(min))
        .maximum(Some(max))
        .default(default.map(serde_json::Value::from));
    Schema::Object(number.build())
}
