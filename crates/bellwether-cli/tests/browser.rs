//! The pages in a real browser, headless: each test does what a person does, and looks at what is shown.
//!
//! | what | file |
//! |---|---|
//! | the browser, and its driver | `driver.rs` |
//! | the laboratory | `laboratory.rs` |
//! | the page of an agent | `live.rs` |
//!
//! They need chromium, its driver and axe-core, which `make browser` installs, and are run by `make engines`.

mod driver;
mod laboratory;
mod live;
