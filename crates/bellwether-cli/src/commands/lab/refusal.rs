//! Why a request is not met: a status, and one sentence as JSON, with the line if it is about a scenario.

use axum::Json;
use axum::http::StatusCode;
use axum::response::{IntoResponse, Response};
use bellwether_toml::FileError;
use serde_json::json;

#[derive(Debug)]
pub(super) struct Refusal {
    status: StatusCode,
    error: String,
    /// Line and column.
    place: Option<(usize, usize)>,
}

impl Refusal {
    pub(super) fn new(status: StatusCode, error: impl Into<String>) -> Self {
        Self { status, error: error.into(), place: None }
    }

    pub(super) fn wrong(error: impl Into<String>) -> Self {
        Self::new(StatusCode::UNPROCESSABLE_ENTITY, error)
    }

    pub(super) fn not_found(error: impl Into<String>) -> Self {
        Self::new(StatusCode::NOT_FOUND, error)
    }
}

impl From<FileError> for Refusal {
    fn from(error: FileError) -> Self {
        let place = Some((error.line, error.column));
        Self { place, ..Self::wrong(error.message) }
    }
}

impl IntoResponse for Refusal {
    fn into_response(self) -> Response {
        let (line, column) = self.place.unzip();
        let body = json!({ "error": self.error, "line": line, "column": column });
        (self.status, Json(body)).into_response()
    }
}
