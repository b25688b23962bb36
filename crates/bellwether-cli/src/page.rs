//! The pages that a browser is shown, as they are in the folder `page` of this crate. They are all there is: nothing is fetched from
//! elsewhere, and no script runs that is not a file of ours.

use axum::Router;
use axum::http::header::{
    CACHE_CONTROL, CONTENT_SECURITY_POLICY, CONTENT_TYPE, REFERRER_POLICY, X_CONTENT_TYPE_OPTIONS,
};
use axum::response::{IntoResponse, Response};
use axum::routing::get;

/// Files of ours, and requests to whoever served them.
const POLICY: &str = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; \
    connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

const HTML: &str = "text/html; charset=utf-8";
const CSS: &str = "text/css; charset=utf-8";
const SCRIPT: &str = "text/javascript; charset=utf-8";

/// A file of a page.
#[derive(Clone, Copy, Debug)]
struct Asset {
    path: &'static str,
    kind: &'static str,
    text: &'static str,
}

macro_rules! asset {
    ($path:literal, $kind:expr, $file:literal) => {
        Asset { path: $path, kind: $kind, text: include_str!(concat!("../page/", $file)) }
    };
}

const LAB: [Asset; 13] = [
    asset!("/", HTML, "lab.html"),
    asset!("/page/common.css", CSS, "common.css"),
    asset!("/page/common.js", SCRIPT, "common.js"),
    asset!("/page/lab.css", CSS, "lab.css"),
    asset!("/page/lab/main.js", SCRIPT, "lab/main.js"),
    asset!("/page/lab/api.js", SCRIPT, "lab/api.js"),
    asset!("/page/lab/film.js", SCRIPT, "lab/film.js"),
    asset!("/page/lab/diagram.js", SCRIPT, "lab/diagram.js"),
    asset!("/page/lab/view.js", SCRIPT, "lab/view.js"),
    asset!("/page/lab/panels.js", SCRIPT, "lab/panels.js"),
    asset!("/page/lab/share.js", SCRIPT, "lab/share.js"),
    asset!("/page/lab/search.js", SCRIPT, "lab/search.js"),
    asset!("/page/lab/tour.js", SCRIPT, "lab/tour.js"),
];

const CLUSTER: [Asset; 5] = [
    asset!("/", HTML, "cluster.html"),
    asset!("/page/common.css", CSS, "common.css"),
    asset!("/page/common.js", SCRIPT, "common.js"),
    asset!("/page/cluster.css", CSS, "cluster.css"),
    asset!("/page/cluster/main.js", SCRIPT, "cluster/main.js"),
];

/// The cluster, as an agent shows it.
pub(crate) fn cluster<S: Clone + Send + Sync + 'static>() -> Router<S> {
    serve(&CLUSTER)
}

/// The laboratory.
pub(crate) fn lab<S: Clone + Send + Sync + 'static>() -> Router<S> {
    serve(&LAB)
}

fn serve<S: Clone + Send + Sync + 'static>(assets: &'static [Asset]) -> Router<S> {
    assets
        .iter()
        .fold(Router::new(), |router, asset| router.route(asset.path, get(|| async { asset.answer() })))
}

impl Asset {
    fn answer(&self) -> Response {
        let headers = [
            (CONTENT_TYPE, self.kind),
            (CONTENT_SECURITY_POLICY, POLICY),
            (X_CONTENT_TYPE_OPTIONS, "nosniff"),
            (REFERRER_POLICY, "no-referrer"),
            (CACHE_CONTROL, "no-cache"),
        ];
        (headers, self.text).into_response()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A page that is large is slow to read and to keep.
    const BYTES_MAX: usize = 250 * 1024;

    #[test]
    fn pages_are_small_and_all_their_own() {
        let bytes: usize = LAB.iter().chain(&CLUSTER).map(|asset| asset.text.len()).sum();
        assert!(bytes <= BYTES_MAX, "{bytes} bytes, expected at most {BYTES_MAX}");
        for assets in [&LAB[..], &CLUSTER] {
            for Asset { path, text, .. } in assets {
                for elsewhere in ["://", "<style", " style=", " onclick=", "eval(", "innerHTML"] {
                    let found = text.replace("http://www.w3.org/", "");
                    assert!(!found.contains(elsewhere), "{path} has {elsewhere}");
                }
                for file in needed(path, text) {
                    assert!(assets.iter().any(|asset| asset.path == file), "{path} needs {file}");
                }
            }
        }
    }

    /// The files that a file names.
    fn needed(path: &str, text: &str) -> Vec<String> {
        let (folder, _) = path.rsplit_once('/').unwrap();
        let named = |before: &str| -> Vec<String> {
            text.split(before).skip(1).filter_map(|rest| rest.split('"').next()).map(str::to_owned).collect()
        };
        let beside = named("from \"./").into_iter().map(|file| format!("{folder}/{file}"));
        let above = named("from \"../").into_iter().map(|file| format!("/page/{file}"));
        let linked = named("=\"/page/").into_iter().map(|file| format!("/page/{file}"));
        beside.chain(above).chain(linked).collect()
    }
}
