use super::kept_lines;

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
