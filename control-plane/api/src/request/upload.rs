//! An upload: a multipart body with the two parts of a signed component.

use axum::body::{Body, Bytes};
use axum::extract::{DefaultBodyLimit, FromRequest, Multipart, Request};

use tidegate_types::TenantId;
use tokio::sync::OwnedSemaphorePermit;

use super::{content_type, expected_bytes, read_body};
use crate::problem::{Answer, Problem, codes};
use crate::services::Shared;
use crate::settings::MAX_UPLOAD_EXTRA_BYTES;

/// The parts, and the room that they take.
pub(crate) struct Upload {
    /// The component's exact bytes.
    pub(crate) component: Bytes,
    /// The envelope's exact bytes.
    pub(crate) signature: Bytes,
    pub(crate) room: Room,
}

/// Held as long as the parts are.
pub(crate) type Room = (OwnedSemaphorePermit, OwnedSemaphorePermit);

/// Reads an upload whose component has at most so many bytes. The body is read first, whole and bounded, then taken apart.
pub(crate) async fn read_upload(
    api: &Shared,
    tenant: &TenantId,
    request: Request,
    artifact_bytes: u64,
) -> Answer<Upload> {
    content_type(request.headers(), &["multipart/form-data"])?;
    let most = usize::try_from(artifact_bytes).unwrap_or(usize::MAX).saturating_add(MAX_UPLOAD_EXTRA_BYTES);
    let (parts, body) = request.into_parts();
    // Twice: the body, and the parts taken out of it.
    let room = api.places.body(tenant, expected_bytes(&body, most).saturating_mul(2)).await?;
    let what = "the tenant's limit `artifact_bytes` and room for the signature";
    let body = read_body(body, most, what, api.services.settings.body_timeout).await?;
    let mut whole = Request::from_parts(parts, Body::from(body));
    DefaultBodyLimit::disable().apply(&mut whole);
    let form = Multipart::from_request(whole, &()).await.map_err(|error| malformed(&error.body_text()))?;
    take_apart(form, room).await
}

async fn take_apart(mut form: Multipart, room: Room) -> Answer<Upload> {
    let (mut component, mut signature) = (None, None);
    while let Some(field) = form.next_field().await.map_err(|error| malformed(&error.body_text()))? {
        let name = field.name().unwrap_or_default().to_owned();
        let slot = match name.as_str() {
            "component" => &mut component,
            "signature" => &mut signature,
            _ => return Err(malformed(&format!("there is no part {name:?}"))),
        };
        if slot.is_some() {
            return Err(malformed(&format!("the part `{name}` stands twice")));
        }
        *slot = Some(field.bytes().await.map_err(|error| malformed(&error.body_text()))?);
    }
    let absent = |name: &'static str| move || Problem::invalid(name, format!("the part `{name}` is absent"));
    let component = component.ok_or_else(absent("component"))?;
    Ok(Upload { component, signature: signature.ok_or_else(absent("signature"))?, room })
}

fn malformed(text: &str) -> Problem {
    let text = crate::problem::shown_long(text);
    Problem::new(
        codes::BAD_REQUEST,
        format!("{text}; send multipart/form-data with the parts `component` and `signature`"),
    )
}
