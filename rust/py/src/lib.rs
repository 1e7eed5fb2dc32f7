//! The extension module `ethos_registry._core`: the export list, nothing else.

mod address;
mod archive;
mod call;
mod clean;
#[cfg(target_os = "linux")]
mod confine;
mod definition;
mod finish;
mod formats;
mod gate;
mod grep;
mod hooks;
mod instance;
mod isolated;
mod json;
mod json_size;
mod json_stream;
mod json_text;
mod ledger;
mod media_type;
mod redact;
mod reduce_many;
mod reducer;
mod same_json;
mod sanitize;
mod schema;
#[cfg(unix)]
mod scoped_files;
mod sealed;
mod source;
mod surrogates;
mod table;
mod text;
mod tool_search;
mod usage;
mod utf8;

use pyo3::prelude::*;

/// The native core of `ethos_registry`; import the public names from `ethos_registry` instead.
#[pymodule]
mod _core {
    /// The version of the package, from `Cargo.toml`.
    #[pymodule_export]
    #[expect(non_upper_case_globals, reason = "Python's name for it")]
    const __version__: &str = env!("CARGO_PKG_VERSION");
    /// Whether this is a debug build, which is many times slower: not one to measure.
    #[pymodule_export]
    const IS_DEBUG_BUILD: bool = cfg!(debug_assertions);

    #[pymodule_export]
    use crate::address::closed_address;
    #[pymodule_export]
    use crate::archive::OutputArchive;
    #[pymodule_export]
    use crate::clean::{as_displayed, without_escapes};
    #[cfg(target_os = "linux")]
    #[pymodule_export]
    use crate::confine::{
        confinement_problem, namespace_filter_instructions, prepare_confinement,
        prepare_socket_scope,
    };
    #[pymodule_export]
    use crate::definition::{join_json, json_bytes};
    #[pymodule_export]
    use crate::finish::{finish, replace_surrogates, trim_text};
    #[pymodule_export]
    use crate::formats::{
        built_in_formats, check_format, format_of, register_format, registered_formats,
        unregister_format,
    };
    #[pymodule_export]
    use crate::gate::Gate;
    #[pymodule_export]
    use crate::grep::Grep;
    #[pymodule_export]
    use crate::hooks::{hook_answer, is_data};
    #[pymodule_export]
    use crate::isolated::isolated_arguments;
    #[pymodule_export]
    use crate::json_size::json_size;
    #[pymodule_export]
    use crate::json_stream::PyJsonStream;
    #[pymodule_export]
    use crate::json_text::json_fault;
    #[pymodule_export]
    use crate::ledger::ShownTexts;
    #[pymodule_export]
    use crate::media_type::sniff_media_type;
    #[pymodule_export]
    use crate::redact::{KnownSecrets, redact};
    #[pymodule_export]
    use crate::reduce_many::reduce_many;
    #[pymodule_export]
    use crate::reducer::NativeReducer;
    #[pymodule_export]
    use crate::same_json::same_json;
    #[pymodule_export]
    use crate::sanitize::{sanitize, wrap};
    #[pymodule_export]
    use crate::schema::{SchemaValidator, is_pattern};
    #[cfg(unix)]
    #[pymodule_export]
    use crate::scoped_files::{ProtectedFiles, ScopedFiles, ScopedTarget, real_paths};
    #[pymodule_export]
    use crate::sealed::SealedTable;
    #[pymodule_export]
    use crate::table::{ToolTable, is_tool_name, split_mcp_name};
    #[pymodule_export]
    use crate::tool_search::ToolSearchIndex;
    #[pymodule_export]
    use crate::usage::{UsageCounts, usage_bucket};

    use ethos_registry_core::gate::Refusal;

    /// `ToolTable.admit`: no tool has this name.
    #[pymodule_export]
    const VERDICT_UNKNOWN: i64 = Refusal::Unknown.code();
    /// `ToolTable.admit`: the tool is excluded.
    #[pymodule_export]
    const VERDICT_EXCLUDED: i64 = Refusal::Excluded.code();
    /// `ToolTable.admit`: a built-in tool that the toolset does not hold.
    #[pymodule_export]
    const VERDICT_TOOLSET: i64 = Refusal::Toolset.code();
    /// `ToolTable.admit`: a tool of an MCP server that is not allowed.
    #[pymodule_export]
    const VERDICT_MCP_SERVER: i64 = Refusal::McpServer.code();
    /// `ToolTable.admit`: a tool that is not among those allowed of its MCP server.
    #[pymodule_export]
    const VERDICT_MCP_TOOL: i64 = Refusal::McpTool.code();
    /// `ToolTable.admit`: a tool of a plugin that is not allowed.
    #[pymodule_export]
    const VERDICT_PLUGIN: i64 = Refusal::Plugin.code();
    /// `ToolTable.admit`: a tool of another agent that was not granted.
    #[pymodule_export]
    const VERDICT_NOT_GRANTED: i64 = Refusal::NotGranted.code();
}
