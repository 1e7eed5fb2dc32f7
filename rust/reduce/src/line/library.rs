//! Which frames are not of the user's own code.

use crate::line::beginnings::Beginnings;
use ethos_registry_core::find_text::{FindText as _, any_of};
use std::sync::LazyLock;

use aho_corasick::AhoCorasick;

/// Parts of paths under which installed code lies.
const INSTALLED: [&str; 37] = [
    "site-packages/",
    "dist-packages/",
    "site-packages\\",
    "/lib/python2",
    "/lib/python3",
    "/lib64/python3",
    "\\lib\\",
    "<frozen ",
    // Methods that attrs writes: `File "<attrs generated init shop.Cart>"`.
    "<attrs generated ",
    "/usr/include/",
    "node_modules/",
    "node_modules\\",
    "node:",
    "(internal/",
    "/rustc/",
    "/.cargo/registry/",
    "/.cargo/git/",
    "library/std/src/",
    "library/core/src/",
    "/usr/local/go/src/",
    "/usr/lib/go",
    "/go/src/runtime/",
    "/go/src/testing/",
    "/go/src/net/http/",
    "/go/src/reflect/",
    "/hostedtoolcache/go/",
    "/pkg/mod/",
    "libexec/src/",
    "/gems/",
    "/vendor/",
    "/sysdeps/",
    "/csu/",
    "/nptl/",
    "libsanitizer/",
    "libc.so",
    "vg_replace_malloc",
    "(in /usr/lib",
];

/// How names of installed code begin, in languages whose frames name no path.
static PACKAGES: Beginnings<37> = Beginnings::new([
    "Promise.",
    "java.",
    "javax.",
    "jdk.",
    "sun.",
    "com.sun.",
    "jakarta.",
    "org.junit.",
    "junit.",
    "org.testng.",
    "org.mockito.",
    "org.gradle.",
    "org.apache.",
    "org.codehaus.",
    "org.springframework.",
    "org.hibernate.",
    "io.netty.",
    "reactor.",
    "scala.",
    "kotlin.",
    "kotlinx.",
    "groovy.",
    "System.",
    "Microsoft.",
    "Xunit.",
    "NUnit.",
    "std::",
    "core::",
    "alloc::",
    "test::",
    "__rust",
    "rust_begin_unwind",
    "runtime.",
    "testing.",
    "reflect.",
    "<core::",
    "<alloc::",
]);

static INSTALLED_PARTS: LazyLock<Option<AhoCorasick>> = LazyLock::new(|| any_of(INSTALLED));

/// Whether `frame`, a line or a path, lies under a folder of installed code.
pub(crate) fn is_library(frame: &str) -> bool {
    INSTALLED_PARTS
        .as_ref()
        .is_some_and(|parts| parts.is_match(frame))
}

/// Whether `function`, a signature of C++, is one of the standard library: `std::vector<Oak>::~vector()`.
pub(crate) fn is_standard(function: &str) -> bool {
    let end = function.find(['<', '(']).unwrap_or(function.len());
    let named = function.get(..end).unwrap_or_default();
    // Of a template the type that it returns precedes its name.
    let name = named.rsplit(' ').next().unwrap_or(named);
    name.starts_with("std::") || name.starts_with("__gnu_cxx::")
}

/// Whether `name`, a qualified name of a function, is one of installed code.
///
/// What precedes a slash names the module: `java.base/java.lang.Thread`.
pub(crate) fn is_library_name(name: &str) -> bool {
    let name = name.strip_prefix("async ").unwrap_or(name);
    let until_place = name.split_text("(").map_or(name, |(name, _)| name);
    let plain = until_place
        .rsplit_text("/")
        .map_or(until_place, |(_, plain)| plain);
    PACKAGES.begin(plain)
}
