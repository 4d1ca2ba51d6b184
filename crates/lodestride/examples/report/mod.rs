//! One-file HTML reports: a page of tiles and figures with inline styles and SVG, no script and no network.
//! What is drawn lives in `charts`; what a figure means is the caller's business.

mod charts;

pub(crate) use charts::{Bars, Heat, Lines, Series};

use std::fmt::Write as _;
use std::path::Path;

/// A page under construction: a heading, a row of tiles, then figures in the order they were added.
#[derive(Debug, Default)]
pub(crate) struct Report {
    title: String,
    subtitle: String,
    tiles: String,
    figures: String,
}

impl Report {
    /// Starts a page with a heading and one line under it.
    pub(crate) fn new(title: &str, subtitle: &str) -> Self {
        Self {
            title: escape(title),
            subtitle: escape(subtitle),
            ..Self::default()
        }
    }

    /// Adds one headline figure to the row of tiles.
    pub(crate) fn tile(&mut self, label: &str, value: &str) {
        let (label, value) = (escape(label), escape(value));
        // Writing to a String cannot fail.
        let _ = write!(
            self.tiles,
            "<div class=tile><b>{value}</b><span>{label}</span></div>"
        );
    }

    /// Adds a figure: a heading, one sentence of explanation and the markup that shows it.
    pub(crate) fn figure(&mut self, heading: &str, caption: &str, markup: &str) {
        let (heading, caption) = (escape(heading), escape(caption));
        let _ = write!(
            self.figures,
            "<figure><h2>{heading}</h2><figcaption>{caption}</figcaption>{markup}</figure>"
        );
    }

    /// Adds a figure that spans the page and scrolls sideways when its content is wider.
    pub(crate) fn wide_figure(&mut self, heading: &str, caption: &str, markup: &str) {
        let markup = format!("<div class=scroll>{markup}</div>");
        let (heading, caption) = (escape(heading), escape(caption));
        let _ = write!(
            self.figures,
            "<figure class=wide><h2>{heading}</h2><figcaption>{caption}</figcaption>{markup}</figure>"
        );
    }

    /// The page as one HTML document.
    pub(crate) fn to_html(&self) -> String {
        format!(
            "<!doctype html><html lang=en><head><meta charset=utf-8>\
             <meta name=viewport content='width=device-width,initial-scale=1'>\
             <title>{title}</title><style>{STYLE}</style></head><body><header><h1>{title}</h1>\
             <p>{subtitle}</p></header><section class=tiles>{tiles}</section>\
             <main>{figures}</main></body></html>\n",
            title = self.title,
            subtitle = self.subtitle,
            tiles = self.tiles,
            figures = self.figures,
        )
    }

    /// Writes the page to `path`, through a temporary file so that a reader never sees half of it.
    pub(crate) fn write(&self, path: &Path) -> std::io::Result<()> {
        if let Some(folder) = path.parent() {
            std::fs::create_dir_all(folder)?;
        }
        let partial = path.with_extension("html.partial");
        std::fs::write(&partial, self.to_html())?;
        std::fs::rename(&partial, path)
    }
}

/// Replaces the characters that mean something in HTML.
pub(crate) fn escape(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            '\'' => out.push_str("&#39;"),
            _ => out.push(c),
        }
    }
    out
}

const STYLE: &str = "\
:root{--ink:#1d2430;--soft:#5c6778;--line:#d9dee7;--page:#f5f6f9;--card:#fff;--a:#2f6fdf;--b:#d9642b;--c:#1f9d72;--d:#8a55c7}\
@media(prefers-color-scheme:dark){:root{--ink:#e8ebf1;--soft:#9aa5b5;--line:#353d4a;--page:#14181f;--card:#1d232d;--a:#6ea0ff;--b:#f0925f;--c:#4fcf9f;--d:#b78be8}}\
*{box-sizing:border-box}body{margin:0 auto;max-width:1180px;padding:24px;background:var(--page);color:var(--ink);font:15px/1.5 system-ui,sans-serif}\
h1{font-size:26px;margin:0}h2{font-size:16px;margin:0 0 2px}header p{margin:4px 0 20px;color:var(--soft)}\
.tiles{display:grid;grid-template-columns:repeat(auto-fit,minmax(150px,1fr));gap:12px;margin-bottom:16px}\
.tile,figure{background:var(--card);border:1px solid var(--line);border-radius:10px;padding:14px 16px;margin:0}\
.tile b{display:block;font-size:21px;font-variant-numeric:tabular-nums}.tile span{color:var(--soft);font-size:13px}\
main{display:grid;grid-template-columns:repeat(auto-fit,minmax(480px,1fr));gap:16px}figure.wide{grid-column:1/-1}\
figcaption{color:var(--soft);font-size:13px;margin-bottom:10px}.scroll{overflow-x:auto}svg{max-width:100%;height:auto}\
.scroll svg{max-width:none}svg text{font-family:system-ui,sans-serif}pre{font-size:12px;line-height:1.45;overflow-x:auto;margin:0}\
table{border-collapse:collapse;font-variant-numeric:tabular-nums;font-size:13px}td,th{padding:3px 10px;text-align:right;border-bottom:1px solid var(--line)}td:first-child,th:first-child{text-align:left}\
@media(max-width:560px){main{grid-template-columns:1fr}}";
