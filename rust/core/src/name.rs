//! Which names a tool may have, and which MCP server and tool a name represents.

use std::fmt;

/// The longest name of a tool, in characters (all of them ASCII).
pub const MAX_TOOL_NAME_CHARS: usize = 64;

/// What the name of an MCP tool starts with; any other spelling makes a built-in tool.
const MCP_PREFIX: &str = "mcp__";

const SEPARATOR: &str = "__";

/// How many readings of an ambiguous name its error spells out.
const READINGS_IN_MESSAGE: usize = 2;

/// Whether the whole of `name` matches `[a-zA-Z][a-zA-Z0-9_-]{0,63}`.
///
/// Every provider accepts such a name; one that is refused there fails the whole request.
#[must_use]
pub fn is_tool_name(name: &str) -> bool {
    let Some((first, rest)) = name.as_bytes().split_first() else {
        return false;
    };
    rest.len() < MAX_TOOL_NAME_CHARS
        && first.is_ascii_alphabetic()
        && rest
            .iter()
            .all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-'))
}

/// An MCP tool as its server knows it; neither part is empty.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct McpName<'a> {
    /// The server, as policies name it.
    pub server: &'a str,
    /// The bare name of the tool on that server.
    pub tool: &'a str,
}

/// Why a name is refused; its text is one line that ends with the way out.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum NameError {
    /// The name breaks the rule of [`is_tool_name`].
    NotAToolName {
        /// The name as it was given.
        name: String,
    },
    /// The name starts with `mcp__`, and no cut leaves a server and a tool.
    NoReading {
        /// The name as it was given.
        name: String,
    },
    /// The name starts with `mcp__` and can be cut in more than one place.
    Ambiguous {
        /// The name as it was given.
        name: String,
        /// The first readings, each `(server, tool)`.
        readings: Vec<(String, String)>,
        /// How many readings there are in all.
        total: usize,
    },
    /// The server was given as an empty text.
    EmptyServer {
        /// The name of the tool.
        name: String,
    },
    /// The bare tool was given as an empty text.
    EmptyTool {
        /// The name of the tool.
        name: String,
    },
    /// A bare tool was given without its server.
    ToolWithoutServer {
        /// The name of the tool.
        name: String,
    },
}

impl fmt::Display for NameError {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NotAToolName { name } => write!(
                out,
                "{name:?} is no tool name; use a letter and then at most 63 letters, digits, \
                 `_` or `-`"
            ),
            Self::NoReading { name } => write!(
                out,
                "MCP tool `{name}` does not name a server and a tool; write \
                 `mcp__<server>__<tool>` or pass `mcp_server`"
            ),
            Self::Ambiguous {
                name,
                readings,
                total,
            } => {
                write!(out, "MCP tool `{name}` can be read in {total} ways: ")?;
                for (position, (server, tool)) in readings.iter().enumerate() {
                    let joint = if position == 0 { "" } else { " or " };
                    write!(out, "{joint}server `{server}` with tool `{tool}`")?;
                }
                let more = if *total > readings.len() {
                    ", among others"
                } else {
                    ""
                };
                write!(out, "{more}; pass `mcp_server`")
            }
            Self::EmptyServer { name } => {
                write!(
                    out,
                    "`mcp_server` of tool `{name}` is empty; name the server or pass None"
                )
            }
            Self::EmptyTool { name } => {
                write!(
                    out,
                    "`mcp_tool` of tool `{name}` is empty; name the tool or pass None"
                )
            }
            Self::ToolWithoutServer { name } => {
                write!(
                    out,
                    "tool `{name}` has `mcp_tool` without `mcp_server`; pass both"
                )
            }
        }
    }
}

impl std::error::Error for NameError {}

/// The MCP server and bare tool that `name` represents, or `None` for a tool of no MCP server.
///
/// With a given `server` the bare tool is what follows `mcp__{server}__`, or the whole name where
/// that prefix or a rest is missing. Without one, a name that starts with exactly `mcp__` must
/// split into a non-empty server and a non-empty tool in exactly one way; underscores that overlap
/// count (`mcp__a___b` has two readings), because a wrong cut would admit a tool under the name of
/// another server.
///
/// # Errors
/// [`NameError::EmptyServer`] for `Some("")`; [`NameError::NoReading`] and
/// [`NameError::Ambiguous`] for a name that has to be split and cannot be.
pub fn split_mcp_name<'a>(
    name: &'a str,
    server: Option<&'a str>,
) -> Result<Option<McpName<'a>>, NameError> {
    let rest = name.strip_prefix(MCP_PREFIX);
    if let Some(server) = server {
        if server.is_empty() {
            return Err(NameError::EmptyServer {
                name: name.to_owned(),
            });
        }
        let tool = rest
            .and_then(|rest| rest.strip_prefix(server))
            .and_then(|rest| rest.strip_prefix(SEPARATOR))
            .filter(|tool| !tool.is_empty())
            .unwrap_or(name);
        return Ok(Some(McpName { server, tool }));
    }
    let Some(rest) = rest else {
        return Ok(None);
    };
    let mut readings = readings_of(rest);
    let Some(first) = readings.next() else {
        return Err(NameError::NoReading {
            name: name.to_owned(),
        });
    };
    let others = readings.count();
    if others == 0 {
        return Ok(Some(first));
    }
    Err(NameError::Ambiguous {
        name: name.to_owned(),
        readings: readings_of(rest)
            .take(READINGS_IN_MESSAGE)
            .map(|reading| (reading.server.to_owned(), reading.tool.to_owned()))
            .collect(),
        total: others.saturating_add(1),
    })
}

/// Every cut of `rest` at two underscores that leaves something on both sides, from the left.
fn readings_of(rest: &str) -> impl Iterator<Item = McpName<'_>> {
    (1..rest.len()).filter_map(move |cut| {
        let (server, tail) = rest.split_at_checked(cut)?;
        let tool = tail.strip_prefix(SEPARATOR)?;
        (!tool.is_empty()).then_some(McpName { server, tool })
    })
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "tests may panic")]

    use super::*;

    #[test]
    fn names_are_matched_as_a_whole() {
        assert!(is_tool_name("a"));
        assert!(is_tool_name("Read_file-2"));
        assert!(is_tool_name(&"a".repeat(64)));
        for name in [
            "",
            "1a",
            "_a",
            "-a",
            "rm\n",
            " rm",
            "a b",
            "é",
            "a.b",
            &"a".repeat(65),
        ] {
            assert!(!is_tool_name(name), "{name:?}");
        }
    }

    #[test]
    fn names_of_one_reading_are_split() {
        for (name, server, tool) in [
            ("mcp__a__b", "a", "b"),
            ("mcp___a__b", "_a", "b"),
            ("mcp__a_b__c_d", "a_b", "c_d"),
        ] {
            assert_eq!(
                split_mcp_name(name, None),
                Ok(Some(McpName { server, tool }))
            );
        }
    }

    #[test]
    fn names_of_no_or_two_readings_are_refused() {
        for name in ["mcp__", "mcp____x", "mcp__solo", "mcp__a__", "mcp____"] {
            let refused = Err(NameError::NoReading {
                name: name.to_owned(),
            });
            assert_eq!(split_mcp_name(name, None), refused);
        }
        let message = split_mcp_name("mcp__a___b", None).unwrap_err().to_string();
        assert_eq!(
            message,
            "MCP tool `mcp__a___b` can be read in 2 ways: server `a` with tool `_b` or server `a_` \
             with tool `b`; pass `mcp_server`"
        );
        let message = split_mcp_name("mcp__a__b__c__d", None)
            .unwrap_err()
            .to_string();
        assert!(
            message.contains("in 3 ways") && message.contains("among others"),
            "{message}"
        );
    }

    #[test]
    fn other_spellings_are_built_in() {
        for name in ["mcp", "mcp_x", "MCP__a__b", "xmcp__a__b", ""] {
            assert_eq!(split_mcp_name(name, None), Ok(None));
        }
    }

    #[test]
    fn a_given_server_decides_the_cut() {
        for (name, tool) in [
            ("mcp__my__srv__tool", "tool"),
            ("mcp__my__srv__", "mcp__my__srv__"),
            ("mcp__other__tool", "mcp__other__tool"),
            ("search", "search"),
        ] {
            let server = "my__srv";
            assert_eq!(
                split_mcp_name(name, Some(server)),
                Ok(Some(McpName { server, tool }))
            );
        }
        assert!(split_mcp_name("search", Some("")).is_err());
    }
}
