use super::{FAMILY, kept_lines};
use crate::input::Exit;
use crate::tested;

#[test]
fn python_keeps_own_frames_and_exceptions() {
    let text = "Traceback (most recent call last):\n  File \"/a/b.py\", line 3, in f\n    g()\n    ~^^\n  File \"/usr/lib/python3.12/json/__init__.py\", line 9, in g\n    x\nValueError: bad\n\nDuring handling of the above exception, another exception occurred:\n\nTraceback (most recent call last):\n  File \"/a/c.py\", line 1, in <module>\n    h()\n  [Previous line repeated 990 more times]\nKeyError: 'k'\n";
    assert_eq!(
        kept_lines(text),
        [
            "File \"/a/b.py\", line 3, in f",
            "ValueError: bad",
            "During handling of the above exception, another exception occurred:",
            "File \"/a/c.py\", line 1, in <module>",
            "[Previous line repeated 990 more times]",
            "KeyError: 'k'",
        ]
    );
}

#[test]
fn source_that_python_could_not_read_stays() {
    let text = "Traceback (most recent call last):\n  File \"<string>\", line 2, in <module>\n  File \"/srv/oak.py\", line 3\n    <<<<<<< HEAD\n    ^^\nSyntaxError: invalid syntax\n";
    assert_eq!(
        kept_lines(text),
        [
            "File \"<string>\", line 2, in <module>",
            "File \"/srv/oak.py\", line 3",
            "<<<<<<< HEAD",
            "SyntaxError: invalid syntax",
        ]
    );
}

#[test]
fn methods_that_attrs_wrote_are_no_own_frames() {
    let text = "Traceback (most recent call last):\n  File \"/srv/the generated leaves/oak.py\", line 3, in fell\n    Leaf(7)\n  \
                File \"<attrs generated init oak.Leaf>\", line 4, in __init__\nValueError: no leaf\n";
    assert_eq!(
        kept_lines(text),
        [
            "File \"/srv/the generated leaves/oak.py\", line 3, in fell",
            "ValueError: no leaf",
        ]
    );
}

#[test]
fn of_frames_of_a_notebook_own_ones_stay_with_the_line_that_was_run() {
    let text = "Cell In[3], line 2\n      1 leaf = oak()\n----> 2 leaf.fall()\n\nFile ~/park/oak.py:12, in Leaf.fall(self)\n     10 def fall(self):\n     11     wind()\n---> 12     self.tree.lose(self)\n\nFile /v/lib/python3.11/site-packages/tree.py:7, in lose(leaf)\n      5     x\n   (...)\n----> 7     raise ValueError(\"stays\")\n\nValueError: stays\n";
    assert_eq!(
        kept_lines(text),
        [
            "Cell In[3], line 2",
            "----> 2 leaf.fall()",
            "File ~/park/oak.py:12, in Leaf.fall(self)",
            "---> 12     self.tree.lose(self)",
            "ValueError: stays",
        ]
    );
}

#[test]
fn frames_of_the_standard_library_of_cpp_go() {
    let text = "==7== Invalid read of size 8\n==7==    at 0x1: std::vector<Oak, std::allocator<Oak> >::~vector() (stl_vector.h:733)\n==7==    by 0x2: void std::__sort<Oak*>(Oak*) (stl_algo.h:1)\n==7==    by 0x3: park::Oak::fell(std::string) (oak.cpp:21)\n==7==  Address 0x9 is 48 bytes inside a block of size 96 free'd\n";
    assert_eq!(
        kept_lines(text),
        [
            "Invalid read of size 8",
            "by 0x3: park::Oak::fell(std::string) (oak.cpp:21)",
            "Address 0x9 is 48 bytes inside a block of size 96 free'd",
        ]
    );
}

#[test]
fn much_that_was_printed_before_a_traceback_is_an_output_of_its_own() {
    let rows = "the oak lost a leaf\n".repeat(12);
    let frames = "  File \"/srv/oak.py\", line 3, in fell\n    saw()\n".repeat(12);
    let text = format!(
        "{rows}the wind turned\n{rows}Traceback (most recent call last):\n{frames}ValueError: no saw\n"
    );
    let reduced = tested::reduced(&FAMILY, &text, "./oak", Exit::Failure);
    assert!(reduced.contains("the wind turned\n"), "{reduced}");
    assert!(
        reduced.contains("File \"/srv/oak.py\", line 3, in fell\nValueError: no saw"),
        "{reduced}"
    );
}

#[test]
fn a_stack_of_installed_code_alone_keeps_its_innermost_frame() {
    let text = "Error: x\n    at f (node:fs:1:2)\n    at g (/p/node_modules/h.js:3:4)\n";
    assert_eq!(kept_lines(text), ["Error: x", "at f (node:fs:1:2)"]);
    let text = "Traceback (most recent call last):\n  File \"/v/site-packages/a.py\", line 3, in f\n    g()\n  File \"/v/site-packages/b.py\", line 4, in g\n    h()\nOSError: x\n";
    assert_eq!(
        kept_lines(text),
        ["File \"/v/site-packages/b.py\", line 4, in g", "OSError: x"]
    );
}

#[test]
fn java_keeps_causes_and_each_own_frame_once() {
    let text = "Exception in thread \"main\" a.BException: no\n\tat java.base/java.util.X.f(X.java:1)\n\tat a.B.g(B.java:2)\n\tat a.B.g(B.java:2)\nCaused by: java.io.IOException: gone\n\t... 3 more\n";
    assert_eq!(
        kept_lines(text),
        [
            "Exception in thread \"main\" a.BException: no",
            "at a.B.g(B.java:2)",
            "Caused by: java.io.IOException: gone",
        ]
    );
}

#[test]
fn a_thrown_object_keeps_its_properties_and_the_excerpt_goes() {
    let text = "/p/a.js:2\nthrow new E()\n^\n\nE: no\n    at f (/p/a.js:2:7)\n    at node:internal/x:1:2 {\n  code: 'E_X',\n  [cause]: TypeError: t\n      at g (/p/b.js:1:1)\n}\n\nNode.js v22\n";
    assert_eq!(
        kept_lines(text),
        [
            "/p/a.js:2",
            "at f (/p/a.js:2:7)",
            "code: 'E_X',",
            "[cause]: TypeError: t",
            "at g (/p/b.js:1:1)",
        ]
    );
}

#[test]
fn go_keeps_functions_and_places_of_own_code() {
    let text = "panic: boom\n\ngoroutine 1 [running]:\nmain.f(...)\n\t/p/main.go:8 +0x1d\nruntime.goexit()\n\t/usr/local/go/src/runtime/asm.s:1 +0x1\nexit status 2\n";
    assert_eq!(
        kept_lines(text),
        [
            "panic: boom",
            "goroutine 1 [running]:",
            "main.f(...)",
            "/p/main.go:8 +0x1d",
            "exit status 2"
        ]
    );
}

#[test]
fn frames_of_many_goroutines_stand_below_their_own_head() {
    let stack = |number: u32, line: u32| {
        format!(
            "goroutine {number} [chan receive]:\nmain.leaf(0x0?)\n\t/p/oak.go:{line} +0x31 fp=0xc0{number:02} sp=0xc1 pc=0x4\n\n"
        )
    };
    let text: String = (1..=20)
        .map(|number| stack(number, if number < 20 { 7 } else { 31 }))
        .collect();
    let kept = kept_lines(&text);
    assert_eq!(kept.first(), Some(&"goroutine 1 [chan receive]:"));
    assert_eq!(kept.get(2), Some(&"/p/oak.go:7 +0x31"));
    assert_eq!(
        kept.get(kept.len() - 3..),
        Some(
            &[
                "goroutine 20 [chan receive]:",
                "main.leaf(0x0?)",
                "/p/oak.go:31 +0x31"
            ][..]
        )
    );
    assert_eq!(kept.len(), 13);
}

#[test]
fn places_of_goroutines_are_no_findings() {
    let frame = |line: u32| {
        format!("sync.lock(...)\n\t/p/lock.go:{line}\nmain.leaf()\n\t/p/oak.go:{line} +0x31\n")
    };
    let text = format!(
        "elm waits\nfatal error: all goroutines are asleep - deadlock!\n\ngoroutine 1 [sleep]:\n{}",
        [3, 5, 7, 9].map(frame).concat()
    );
    assert_eq!(crate::family(&text, Some("./oak")), "traceback");
}

#[test]
fn rust_keeps_the_panic_and_own_frames() {
    let text = "thread 'main' (7) panicked at src/main.rs:9:27:\ncalled x\nstack backtrace:\n   0: core::panicking::panic\n             at /rustc/abc/library/core/src/panicking.rs:1:2\n   1: app::main\n             at ./src/main.rs:4:27\nnote: Some details are omitted\n";
    assert_eq!(
        kept_lines(text),
        [
            "thread 'main' (7) panicked at src/main.rs:9:27:",
            "called x",
            "1: app::main",
            "at ./src/main.rs:4:27",
        ]
    );
}

#[test]
fn sanitizers_keep_the_line_of_the_error_and_lose_their_dump_and_foreign_frames() {
    let text = "==7==ERROR: AddressSanitizer: heap-use-after-free on 0x1\nREAD of size 4\n    #0 0x1 in main /p/a.c:3:4\n    #1 0x2 in start ../sysdeps/x.c:1\nSUMMARY: AddressSanitizer: x\nShadow bytes around the buggy address:\n  0x0c: fa fa\n=>0x0d: fd\n==7==ABORTING\n";
    assert_eq!(
        kept_lines(text),
        [
            "==7==ERROR: AddressSanitizer: heap-use-after-free on 0x1",
            "in main /p/a.c:3:4",
        ]
    );
}

#[test]
fn each_stack_of_a_sanitizer_has_its_innermost_own_frame() {
    let text = "==7==ERROR: AddressSanitizer: heap-buffer-overflow on 0x1\nREAD of size 4\n    #0 0x1 in grow /p/a.c:3\n    \
                #1 0x2 in main /p/a.c:9\n\nallocated by thread T0 here:\n    #0 0x5 in __interceptor_malloc \
                ../../../../src/libsanitizer/asan/asan_malloc_linux.cpp:69\n    #1 0x1 in grow /p/a.c:3\n    #2 0x2 in main \
                /p/a.c:9\n\nSUMMARY: AddressSanitizer: x\n";
    assert_eq!(
        kept_lines(text),
        [
            "==7==ERROR: AddressSanitizer: heap-buffer-overflow on 0x1",
            "in grow /p/a.c:3",
            "in main /p/a.c:9",
            "in grow /p/a.c:3",
        ]
    );
}

#[test]
fn both_stacks_of_a_data_race_and_their_starts_are_told() {
    let stack = |head: &str, line: u32| {
        format!(
            "{head}\n  runtime.mapaccess1_fast64()\n      /usr/lib/go-1.19/src/runtime/map_fast64.go:13 +0x0\n  \
             main.grow.func1()\n      /srv/oak/main.go:{line} +0xce\n\n"
        )
    };
    let report = format!(
        "==================\nWARNING: DATA RACE\n{}{}{}==================\n",
        stack("Read at 0x00c0000b0008 by goroutine 7:", 10),
        stack("Previous write at 0x00c0000b0008 by goroutine 9:", 10),
        stack("Goroutine 7 (running) created at:", 31),
    );
    let text = format!("{report}{report}level 150\nFound 2 data race(s)\n");
    let told = tested::reduced(&FAMILY, &text, "./oak", Exit::Failure);
    assert!(
        told.starts_with(
            "WARNING: DATA RACE\nRead at 0x00c0000b0008 by goroutine 7:\nmain.grow.func1()\n/srv/oak/main.go:10\n\
             Previous write at 0x00c0000b0008 by goroutine 9:\nmain.grow.func1()\n/srv/oak/main.go:10\n\
             Goroutine 7 (running) created at:\nmain.grow.func1()\n/srv/oak/main.go:31\nWARNING: DATA RACE\n"
        ),
        "{told}"
    );
    assert!(told.contains("level 150\nFound 2 data race(s)"), "{told}");
    assert!(!told.contains("map_fast64"), "{told}");
}

#[test]
fn of_a_function_that_called_itself_a_debugger_shows_the_innermost_frame() {
    let walk = |number: usize| {
        let depth = 39 - number;
        format!("#{number}  0x00005555 in walk (n=0x55{number}0, depth={depth}) at tree.c:6\n")
    };
    let walks: String = (1..40).map(walk).collect();
    let text = format!(
        "#0  fall () at leaf.c:3\n{walks}#40 0x00005577 in main (c=1, v=0x7fff) at tree.c:13\n"
    );
    assert_eq!(
        kept_lines(&text),
        [
            "#0  fall () at leaf.c:3",
            "#1  0x00005555 in walk (n=0x5510, depth=38) at tree.c:6",
            "#40 0x00005577 in main (c=1, v=0x7fff) at tree.c:13",
        ]
    );
}

#[test]
fn a_message_of_a_panic_may_have_blank_lines_and_rulers() {
    let text = "thread 'leaf' (7) panicked at tests/oak.rs:9:5:\n\nleaves differ!\n\nexpected:\n~~~~~~~~\ngreen\n~~~~~~~~\n\n\
                got:\n~~~~~~~~\nbrown\n~~~~~~~~\n\nstack backtrace:\n   0: core::panicking::panic_fmt\n             at /rustc/1a/core/src/panicking.rs:80:14\n";
    assert_eq!(
        kept_lines(text),
        [
            "thread 'leaf' (7) panicked at tests/oak.rs:9:5:",
            "leaves differ!",
            "expected:",
            "green",
            "got:",
            "brown",
        ]
    );
}

#[test]
fn of_a_box_that_rich_draws_the_places_and_what_was_raised_are_kept() {
    let text = "╭──── Traceback (most recent call last) ────╮\n\
                │ /w/oak.py:9 in <module>                   │\n\
                │                                           │\n\
                │ ❱ 9 leaves(1)                             │\n\
                │                                           │\n\
                │ ╭──── locals ────╮                        │\n\
                │ │ count = 1      │                        │\n\
                │ ╰────────────────╯                        │\n\
                │ /v/site-packages/x/y.py:3 in call         │\n\
                │ /w/oak.py:4 in leaves                     │\n\
                │   3 for leaf in tree:                     │\n\
                │ ❱ 4     raise LeafError(leaf)             │\n\
                ╰───────────────────────────────────────────╯\n\
                LeafError: no leaf\nDone\n";
    assert_eq!(
        kept_lines(text),
        [
            "/w/oak.py:9 in <module>",
            "/w/oak.py:4 in leaves",
            "LeafError: no leaf"
        ]
    );
}

#[test]
fn notes_of_the_exceptions_of_a_group_are_left_to_others_and_what_is_drawn_behind_them_is_not() {
    let one = |leaf: u8, rule: &str| {
        format!(
            "    | Traceback (most recent call last):\n    |   File \"/w/oak.py\", line 6, in fall\n    |     raise Fallen(leaf)\n\
             \u{20}   | Fallen: leaf {leaf} fell\n    | leaf {leaf} was of the oak\n    +{rule}\n"
        )
    };
    let text = format!(
        "  + Exception Group Traceback (most recent call last):\n  |   File \"/w/oak.py\", line 9, in <module>\n  |     main()\n\
         \u{20} | ExceptionGroup: leaves (2 sub-exceptions)\n  +-+---------------- 1 ----------------\n{}{}",
        one(3, "---------------- 2 ----------------"),
        one(5, "------------------------------------")
    );
    let mut folder = super::Folder::default();
    let others: Vec<&str> = text
        .lines()
        .filter(|line| !folder.line(line, &mut |_| {}))
        .collect();
    assert_eq!(
        others,
        ["    | leaf 3 was of the oak", "    | leaf 5 was of the oak",]
    );
}
