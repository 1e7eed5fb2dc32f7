//! What kind of file a command shows, after its name.

use super::lock;

/// Endings of files that hold source code.
const SOURCE_ENDINGS: [&str; 40] = [
    "py", "pyi", "rs", "go", "js", "jsx", "mjs", "cjs", "ts", "tsx", "java", "kt", "kts", "scala",
    "c", "h", "cc", "cpp", "cxx", "hpp", "hh", "cs", "rb", "php", "swift", "m", "mm", "lua", "pl",
    "pm", "r", "jl", "ex", "exs", "erl", "hs", "ml", "dart", "vue", "svelte",
];
/// Endings of files that hold prose with headings.
const PROSE_ENDINGS: [&str; 5] = ["md", "markdown", "mdx", "qmd", "rst"];
/// Endings of files that hold settings, scripts, rules and templates of pages.
const SETTINGS_ENDINGS: [&str; 37] = [
    "toml",
    "yaml",
    "yml",
    "ini",
    "cfg",
    "conf",
    "env",
    "properties",
    "sh",
    "bash",
    "zsh",
    "fish",
    "ps1",
    "bat",
    "sql",
    "css",
    "scss",
    "less",
    "tf",
    "hcl",
    "proto",
    "graphql",
    "cmake",
    "gradle",
    "mk",
    "service",
    "html",
    "htm",
    "jinja",
    "jinja2",
    "j2",
    "ejs",
    "hbs",
    "erb",
    "twig",
    "astro",
    "jsonc",
];
/// Names of such files; other JSON and XML is data.
const SETTINGS_NAMES: [&str; 23] = [
    "Makefile",
    "Dockerfile",
    "Containerfile",
    "Jenkinsfile",
    "Procfile",
    "CMakeLists.txt",
    "pom.xml",
    "package.json",
    "composer.json",
    "deno.json",
    "turbo.json",
    "nx.json",
    "project.json",
    "angular.json",
    "vercel.json",
    "biome.json",
    "renovate.json",
    "settings.json",
    "launch.json",
    "tasks.json",
    "devcontainer.json",
    "pyrightconfig.json",
    "jsconfig.json",
];
/// What other names of settings begin with.
const SETTINGS_BEGINNINGS: [&str; 2] = ["tsconfig.", "appsettings."];
/// What they end with.
const SETTINGS_ENDS: [&str; 3] = ["rc", "rc.json", ".config.json"];

/// Endings of files that hold a row of cells a line.
const ROWS_ENDINGS: [&str; 3] = ["csv", "tsv", "psv"];

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    /// The packages that a tool chose.
    Lock,
    Source,
    Settings,
    Prose,
    Rows,
}

impl Kind {
    /// The kind of the file at `path`; `None` for data, logs and what cannot be shown by its name.
    pub(super) fn of(path: &str) -> Option<Self> {
        let name = path.rsplit('/').next().unwrap_or(path);
        let ending = name.rsplit_once('.').map_or("", |(_, ending)| ending);
        if lock::is_name(name) {
            Some(Self::Lock)
        } else if SOURCE_ENDINGS.contains(&ending) {
            Some(Self::Source)
        } else if is_settings_name(name) || SETTINGS_ENDINGS.contains(&ending) {
            Some(Self::Settings)
        } else if PROSE_ENDINGS.contains(&ending) {
            Some(Self::Prose)
        } else if ROWS_ENDINGS.contains(&ending) {
            Some(Self::Rows)
        } else {
            None
        }
    }
}

fn is_settings_name(name: &str) -> bool {
    // `.eslintrc` and `.swcrc`; a file without a dot is a program.
    let is_hidden = name.starts_with('.');
    SETTINGS_NAMES.contains(&name)
        || SETTINGS_BEGINNINGS
            .iter()
            .any(|start| name.starts_with(start))
        || SETTINGS_ENDS
            .iter()
            .any(|end| name.ends_with(end) && (is_hidden || end.starts_with('.')))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_are_known_by_their_names() {
        for (path, kind) in [
            ("src/a.rs", Some(Kind::Source)),
            ("./Cargo.lock", Some(Kind::Lock)),
            ("deploy/Makefile", Some(Kind::Settings)),
            (".github/workflows/ci.yml", Some(Kind::Settings)),
            (".env", Some(Kind::Settings)),
            ("web/package.json", Some(Kind::Settings)),
            ("tsconfig.base.json", Some(Kind::Settings)),
            (".eslintrc.json", Some(Kind::Settings)),
            (".babelrc", Some(Kind::Settings)),
            ("babel.config.json", Some(Kind::Settings)),
            ("templates/board.html", Some(Kind::Settings)),
            ("arc.json", None),
            ("orders.json", None),
            ("README.md", Some(Kind::Prose)),
            ("access.log", None),
            ("rows.csv", Some(Kind::Rows)),
            ("rows.dat", None),
            ("-n", None),
        ] {
            assert_eq!(Kind::of(path), kind, "{path}");
        }
    }
}
