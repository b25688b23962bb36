//! The answer to a request that fails: a status, and one sentence as JSON.

use axum::Json;
use axum::http::StatusCode;
use axum::response::{IntoResponse, Response};

use crate::schema;

/// Why a request is not met. Nothing has changed.
#[derive(Debug)]
pub(super) struct Problem {
    status: StatusCode,
    error: String,
}

impl Problem {
    pub(super) fn bad_request(error: impl Into<String>) -> Self {
        Self { status: StatusCode::BAD_REQUEST, error: error.into() }
    }

    pub(super) fn unauthorized(error: impl Into<String>) -> Self {
        Self { status: StatusCode::UNAUTHORIZED, error: error.into() }
    }

    pub(super) fn forbidden(error: impl Into<String>) -> Self {
        Self { status: StatusCode::FORBIDDEN, error: error.into() }
    }

    pub(super) fn not_found(error: impl Into<String>) -> Self {
        Self { status: StatusCode::NOT_FOUND, error: error.into() }
    }

    pub(super) fn method_not_allowed(error: impl Into<String>) -> Self {
        Self { status: StatusCode::METHOD_NOT_ALLOWED, error: error.into() }
    }

    pub(super) fn conflict(error: impl Into<String>) -> Self {
        Self { status: StatusCode::CONFLICT, error: error.into() }
    }

    pub(super) fn too_large(error: impl Into<String>) -> Self {
        Self { status: StatusCode::PAYLOAD_TOO_LARGE, error: error.into() }
    }

    pub(super) fn misdirected(error: impl Into<String>) -> Self {
        Self { status: StatusCode::MISDIRECTED_REQUEST, error: error.into() }
    }

    pub(super) fn unavailable(error: impl Into<String>) -> Self {
        Self { status: StatusCode::SERVICE_UNAVAILABLE, error: error.into() }
    }

    pub(super) fn timed_out(error: impl Into<String>) -> Self {
        Self { status: StatusCode::GATEWAY_TIMEOUT, error: error.into() }
    }
}

impl IntoResponse for Problem {
    fn into_response(self) -> Response {
        let body = Json(schema::Problem { error: self.error });
        if self.status == StatusCode::UNAUTHORIZED {
            return (self.status, [("www-authenticate", "Bearer")], body).into_response();
        }
        (self.status, body).into_response()
    }
}
