//! Every kind of problem that the API answers with: one table, from which the answers, the OpenAPI document and
//! docs/api.md are made.
//!
//! Invariant: a code keeps its status and its meaning for good. What a client may do about it stands beside it.

/// One kind of problem.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Code {
    /// The last part of the problem's `type`.
    pub name: &'static str,
    /// The HTTP status.
    pub status: u16,
    /// A few words, the same for every occurrence.
    pub title: &'static str,
    /// When it is answered.
    pub meaning: &'static str,
    /// What the client can do.
    pub mend: &'static str,
}

impl Code {
    /// Whether its answer has `Retry-After`.
    #[must_use]
    pub fn asks_to_wait(&self) -> bool {
        self.status == 503 || [TOO_MANY_REQUESTS, REQUEST_IN_PROGRESS].contains(self)
    }
}

/// Makes the constants and the list of all of them from one table, so that neither lacks what the other has.
macro_rules! codes {
    ($($constant:ident = $name:literal $status:literal $title:literal, $meaning:literal, $mend:literal;)*) => {
        $(
            #[doc = $meaning]
            pub const $constant: Code =
                Code { name: $name, status: $status, title: $title, meaning: $meaning, mend: $mend };
        )*
        /// All of them, in the order of the documentation.
        pub const ALL: &[Code] = &[$($constant),*];
    };
}

codes! {
    BAD_REQUEST = "bad-request" 400 "The request cannot be read",
        "The body is no JSON or multipart, a header or a parameter is malformed or unknown, or the body broke off.",
        "correct what `detail` names; docs/openapi.json has each request";
    UNAUTHENTICATED = "unauthenticated" 401 "Who asks is not known",
        "The bearer token is absent, wrong, expired or revoked.",
        "send `Authorization: Bearer TOKEN`; ask an admin of your tenant for a token if yours no longer counts";
    DENIED = "denied" 403 "The token's role does not allow this",
        "The caller is known, and its role lacks the permission; or a platform admin's token names no tenant.",
        "use a token of the role that `detail` names; a platform admin issues itself a token of the tenant";
    NOT_FOUND = "not-found" 404 "There is no such thing",
        "No such path or thing; or it is another tenant's.",
        "list the things of this kind to see their names";
    METHOD_NOT_ALLOWED = "method-not-allowed" 405 "The path does not know this method",
        "The path exists, with other methods: those of the `Allow` header.",
        "use a method of the `Allow` header";
    REQUEST_TIMEOUT = "request-timeout" 408 "The body came too slowly",
        "The body was not there in the time allowed for it. Nothing was changed.",
        "send the body at once, in smaller requests if the line is slow";
    ALREADY_EXISTS = "already-exists" 409 "The name is taken",
        "A thing of this name exists and is not equal to the one asked for.",
        "choose another name, or use the one that exists";
    CONFLICT = "conflict" 409 "Something is in the way",
        "The thing's present state does not allow this, or somebody changed it at the same time.",
        "do what `detail` says, or read the thing again and repeat the request";
    VERSION_NOT_NEWER = "version-not-newer" 409 "The version was used or is lower than the last",
        "An artifact's or a pipeline's version must be higher than every version before it.",
        "raise the version";
    STREAM_SEALED = "stream-sealed" 409 "The partition takes no more records",
        "The stream, or one of its partitions that the request writes, is sealed. None of its records were appended.",
        "append to another stream; a seal cannot be undone";
    SEQUENCE_TOO_LOW = "sequence-too-low" 409 "The producer's sequence is behind",
        "The producer has appended with a higher sequence since, and this one is no longer remembered.",
        "go on with a sequence above the producer's last";
    SEQUENCE_REUSED = "sequence-reused" 409 "The producer's sequence was used for other records",
        "The producer's last sequence came again with other records. None of them were appended.",
        "give each producer a name of its own, and each batch a higher sequence";
    REQUEST_IN_PROGRESS = "request-in-progress" 409 "The same request is being worked on",
        "A request with this idempotency key has not ended yet.",
        "wait as long as `Retry-After` says, then send the same request again";
    ANSWER_NOT_KEPT = "answer-not-kept" 409 "The request was done; its answer had a secret and is not kept",
        "A token was issued under this idempotency key. Its text is shown once and not stored.",
        "if the text is lost, revoke the token and issue another with a new key";
    STATE_INCOMPATIBLE = "state-incompatible" 409 "The new version cannot read the job's state",
        "An upgrade changes a stateful operator's ID or state schema without migration. Not answered yet: there are no upgrades from a savepoint.",
        "keep the operator's ID and schema, or give a migration";
    RESCALE_OUT_OF_BOUNDS = "rescale-out-of-bounds" 409 "The parallelism is out of bounds",
        "The requested parallelism exceeds the maximum. Not answered yet: there is no rescaling.",
        "ask for no more than the job's maximum";
    OFFSET_NOT_KEPT = "offset-not-kept" 410 "The records are gone",
        "Retention has removed the records at the offset asked for.",
        "read from the partition's start, which `detail` names; the records between are lost to the reader";
    PRECONDITION_FAILED = "precondition-failed" 412 "Somebody changed it since",
        "`If-Match` does not name the present version.",
        "read the thing again, and send its new `ETag`";
    BODY_TOO_LARGE = "body-too-large" 413 "The body is too large",
        "The body, or the number of records in it, is beyond the limit.",
        "send less at once; `detail` names the limit, a platform admin can raise a tenant's own";
    RECORD_TOO_LARGE = "record-too-large" 413 "A record is too large",
        "A line of the body is longer than the stream or the tenant allows. None of its records were appended.",
        "shorten the record in the line named by `line`, or have the limit raised";
    UNSUPPORTED_MEDIA_TYPE = "unsupported-media-type" 415 "The body's type is not understood",
        "The `Content-Type` is absent or none that this request takes, or the body is compressed or no UTF-8.",
        "send the body uncompressed, as UTF-8, with the `Content-Type` that `detail` names";
    INVALID_REQUEST = "invalid-request" 422 "A value is not allowed",
        "The request can be read, and a value in it is out of its bounds, a field is absent, or one is unknown.",
        "correct the field named by `path`";
    INVALID_PIPELINE = "invalid-pipeline" 422 "The pipeline is not valid",
        "Window, trigger or watermark settings contradict each other, or the file cannot be read.",
        "correct the field named by `path` in the line named by `line`";
    UNKNOWN_COMPONENT = "unknown-component" 422 "The pipeline names a component that is not there",
        "The tenant's registry has no artifact of this name and version, or it is revoked.",
        "upload it, or name a version that is listed";
    ARTIFACT_REFUSED = "artifact-refused" 422 "The artifact was not admitted",
        "The signature or the component breaks a rule of admission: `rule` names it, `place` says where.",
        "do what `mend` says, sign again, and upload again";
    IDEMPOTENCY_KEY_REUSED = "idempotency-key-reused" 422 "The idempotency key was used for another request",
        "The key came before with another method, path or body.",
        "use a new key for a new request";
    OFFSET_OUT_OF_RANGE = "offset-out-of-range" 422 "The offset is beyond the end",
        "The partition has fewer records than the offset asked for.",
        "read from the partition's end, which `detail` names, or before";
    QUOTA_EXCEEDED = "quota-exceeded" 429 "The tenant's limit is reached",
        "One more would be beyond a limit of the tenant. Waiting alone does not help.",
        "remove what is no longer needed, or have a platform admin raise the limit named in `detail`";
    TOO_MANY_REQUESTS = "too-many-requests" 429 "Too many requests at once",
        "The tenant has as many requests of this kind running as it may. Nothing was changed.",
        "wait as long as `Retry-After` says, and keep fewer requests open";
    INTERNAL = "internal" 500 "The platform failed",
        "A fault of the platform. Its cause is in the operator's log, under the request's id in `instance`.",
        "give the request's id to the operator; a POST with an idempotency key may be sent again";
    UNAVAILABLE = "unavailable" 503 "A part of the platform does not answer now",
        "The log, the metadata store, the tables or the compiler cannot serve now.",
        "wait as long as `Retry-After` says, then send the same request again";
    OVERLOADED = "overloaded" 503 "The platform has as much to do as it can",
        "All places for requests are taken. Nothing was changed.",
        "wait as long as `Retry-After` says, then send the same request again";
    TOOK_TOO_LONG = "took-too-long" 503 "The answer took too long",
        "The request was not answered in time. What it began goes on.",
        "look at the thing asked for, or send the same request again with the same idempotency key or sequence";
    CHECKPOINT_IN_PROGRESS = "checkpoint-in-progress" 503 "A checkpoint is still running",
        "A savepoint was requested while the previous one is running. Not answered yet: there are no savepoints.",
        "wait as long as `Retry-After` says, then ask again";
}

/// The codes of operations that this version does not have yet. They stand in the table because their meaning is fixed.
pub const NOT_YET: &[Code] = &[STATE_INCOMPATIBLE, RESCALE_OUT_OF_BOUNDS, CHECKPOINT_IN_PROGRESS];

/// The table of docs/api.md.
#[must_use]
pub fn markdown() -> String {
    let mut out = String::from("| Status | Code | When | What to do |\n|---|---|---|---|\n");
    for code in ALL {
        let Code { status, name, meaning, mend, .. } = code;
        out.push_str(&format!("| {status} | `{name}` | {meaning} | {}. |\n", capital(mend)));
    }
    out
}

fn capital(text: &str) -> String {
    let mut chars = text.chars();
    chars.next().map_or_else(String::new, |first| first.to_uppercase().chain(chars).collect())
}
