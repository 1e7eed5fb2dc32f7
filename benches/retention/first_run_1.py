# ruff: noqa: E501 commands and sources of small projects are long lines
"""The first set of `first_run.py`: projects, commands, and what each command must show."""

from __future__ import annotations

PYTHON_PROJECT = {
    "shop/__init__.py": "",
    "shop/cart.py": """import os, sys
from shop.money import Money

class Cart:
    def __init__(self, owner):
        self.owner = owner
        self.lines = []

    def add(self, name, price, count=1):
        if count < 1:
            raise ValueError(f"count must be positive, got {count}")
        self.lines.append((name, price, count))

    def total(self):
        result = 0
        for name, price, count in self.lines:
            result += price * count
        return result

    def discount(self, percent: int) -> str:
        return self.total() * (100 - percent) / 100

    def __eq__(self, other):
        return self.owner == other.owner


def load(path, cache={}):
    try:
        text = open(path).read()
    except:
        return None
    exec(text)
    return cache.get(path, unknown_name)
""",
    "shop/money.py": """class Money:
    def __init__(self, cents: int, currency: str = "EUR"):
        self.cents = cents
        self.currency = currency

    def __add__(self, other: "Money") -> "Money":
        if self.currency != other.currency:
            raise CurrencyError(self.currency, other.currency)
        return Money(self.cents + other.cents, self.currency)

    def split(self, parts):
        return [Money(self.cents // parts) for unused in range(parts)]


def parse(text):
    import hashlib, subprocess
    subprocess.call("echo " + text, shell=True)
    password = "hunter2"
    hashlib.md5(text)
    l = text.split(" ")
    return Money(int(l[0]), l[1], l[2])
""",
    "tests/test_cart.py": """import pytest
from shop.cart import Cart
from shop.money import Money


@pytest.mark.parametrize("count", range(60))
def test_add(count):
    cart = Cart("ada")
    cart.add("tea", 3, count + 1)
    assert cart.total() == 3 * (count + 1) if count % 17 else 4


@pytest.mark.parametrize("cents", [1, 2, 3])
def test_split(cents):
    parts = Money(cents).split(2)
    assert sum(part.cents for part in parts) == cents


def test_currency():
    Money(1, "EUR") + Money(1, "USD")


@pytest.fixture
def broken():
    raise RuntimeError("the test database is not reachable at port 5433")


def test_database(broken):
    pass


@pytest.mark.xfail(strict=True)
def test_unexpected_pass():
    assert True
""",
    "tests/check_money.py": """import unittest
from shop.money import Money


class MoneyCase(unittest.TestCase):
    def test_add(self):
        self.assertEqual((Money(1) + Money(2)).cents, 4)

    def test_split(self):
        for parts in range(1, 9):
            with self.subTest(parts=parts):
                self.assertEqual(sum(m.cents for m in Money(7).split(parts)), 7)

    @unittest.skip("needs a bank")
    def test_bank(self):
        pass

    def test_currency(self):
        Money(1, "EUR") + Money(1, "USD")
""",
    "deep.py": """import asyncio, json, logging, random, sys
logging.basicConfig(level=logging.DEBUG, format="%(asctime)s %(levelname)-8s %(name)s: %(message)s")
log = logging.getLogger("orders.worker")
random.seed(3)
for number in range(900):
    log.info("order %s reserved in %d ms", f"A{number:05d}", random.randint(4, 90))
    if number % 120 == 7:
        log.warning("stock of item %d is low: %d left", number, number % 9)
    if number == 611:
        log.error("payment of order A00611 was refused: card expired")
    if number == 640:
        try:
            json.loads('{"amount": }')
        except ValueError:
            log.exception("event of partner 'north' is not readable")
async def child(n):
    if n == 3:
        raise ConnectionResetError(104, "peer reset the connection")
    await asyncio.sleep(0)
async def main():
    async with asyncio.TaskGroup() as group:
        for n in range(6):
            group.create_task(child(n), name=f"child-{n}")
asyncio.run(main())
""",
    "recursion.py": "def down(n):\n    return down(n + 1) + 1\n\n\ndown(0)\n",
    "data.py": """import json
rows = [{"id": n, "state": "ok", "region": ["eu", "us"][n % 2], "latency_ms": n % 37,
         "labels": {"team": f"t{n % 5}", "tier": n % 3}} for n in range(500)]
rows[313]["state"] = "degraded"
rows[313]["reason"] = "replica lag 94 s"
rows[402]["state"] = "lost"
print(json.dumps({"items": rows, "total": len(rows), "next": None}, indent=2))
""",
}
C_PROJECT = {
    "Makefile": """CFLAGS = -Wall -Wextra -O2
OBJS = main.o list.o parse.o
app: $(OBJS)
\t$(CC) -o $@ $(OBJS) -lm
clean:
\trm -f app $(OBJS)
""",
    "main.c": """#include <stdio.h>
#include "list.h"
int main(int argc, char **argv) {
    int unused;
    struct list l = {0};
    for (unsigned i = 0; i < argc; i++) list_add(&l, i);
    printf("%s\\n", list_sum(&l));
    return missing_function(l.count);
}
""",
    "list.h": "struct list { int count; int *items; };\nvoid list_add(struct list *, int);\nint list_sum(struct list *);\n",
    "list.c": """#include <stdlib.h>
#include "list.h"
void list_add(struct list *l, int v) { l->items = realloc(l->items, ++l->count * sizeof(int)); l->items[l->count - 1] = v; }
int list_sum(struct list *l) { int s; for (int i = 0; i <= l->count; i++) s += l->items[i]; return s; }
""",
    "parse.c": """#include <string.h>
int parse(const char *text, int *out) { char small[4]; strcpy(small, "too long for it"); if (out = 0) return 1; return small[0]; }
""",
    "broken.c": 'int main(void) {\n    struct none n;\n    int x = "text";\n    return undeclared + n.field\n}\n',
    "leak.c": """#include <stdlib.h>
int main(void) { for (int i = 0; i < 40; i++) { int *p = malloc(i * 8 + 4); p[i * 2 + 1] = i; if (i % 3) free(p); } return *(int *)0; }
""",
    "tmpl.cpp": """#include <algorithm>
#include <map>
#include <string>
#include <vector>
struct K { int v; };
int main() { std::map<K, std::string> m; m[K{1}] = 3.5; std::vector<K> v; std::sort(v.begin(), v.end()); std::string s = v; }
""",
}
RUST_PROJECT = {
    "Cargo.toml": '[package]\nname = "stock"\nversion = "0.3.1"\nedition = "2021"\n',
    "src/lib.rs": """use std::collections::HashMap;
pub struct Stock { items: HashMap<String, u32> }
impl Stock {
    pub fn new() -> Self { Self { items: HashMap::new() } }
    pub fn take(&mut self, name: &str, count: u32) -> u32 { let left = self.items[name] - count; self.items.insert(name.into(), left); left }
}
pub fn parse(line: &str) -> Option<(String, u32)> { let (a, b) = line.split_once('=')?; return Some((a.to_string(), b.trim().parse().unwrap())); }
#[cfg(test)]
mod tests {
    use super::*;
    #[test] fn takes() { let mut s = Stock::new(); s.take("tea", 1); }
    #[test] fn parses() { assert_eq!(parse("a=1"), Some(("a".into(), 2))); }
    #[test] fn rejects() { assert!(parse("a=b").is_none(), "a word is not a number"); }
    #[test] fn empty() { assert!(parse("").is_none()); }
}
""",
}
RUST_BROKEN = {
    "Cargo.toml": '[package]\nname = "ledger"\nversion = "0.1.0"\nedition = "2021"\n',
    "src/main.rs": """mod missing;
#[derive(Debug)] enum State { Open, Closed(u8), Frozen }
fn take(v: Vec<String>) -> usize { v.len() }
fn main() {
    let v = vec![String::new()];
    take(v); println!("{:?}", v);
    let s = State::Open;
    match s { State::Open => {} }
    let n: u8 = 300 + "x";
    let unused = 3;
    let r; { let t = String::from("t"); r = &t; } println!("{r}");
}
""",
}
NODE_PROJECT = {
    "package.json": '{"name": "site", "version": "2.0.0", "scripts": {"build": "tsc -p .", "lint": "eslint src", "test": "mocha"}}\n',
    "tsconfig.json": '{"compilerOptions": {"strict": true, "noEmit": true, "target": "es2022", "module": "nodenext", "noUnusedLocals": true}, "include": ["src"]}\n',
    "eslint.config.mjs": 'export default [{rules: {"no-unused-vars": "error", eqeqeq: "warn", "no-undef": "error", "prefer-const": "warn", curly: "error"}}];\n',
    "src/cart.ts": """import { Price } from './price';
interface Line { name: string; price: Price; count: number }
export class Cart {
  lines: Line[];
  add(line) { this.lines.push(line); return this.lines.lenght; }
  total(): number { return this.lines.reduce((sum, l) => sum + l.price * l.count, '0'); }
  find(name: string): Line { return this.lines.find(l => l.name === name); }
}
const cart: Cart = { lines: [] };
let never: string = 5;
""",
    "src/app.js": """var unused = 1; let x = 2
function go(a, b) { if (a == b) return windw.location; else return undefinedName(a)
}
let y = 3; console.log(x, y == '3', go)
""",
    "src/style.css": "a { color: #FFF; colr: red; margin: 0px 0px; }\na { color: blue }\n.x { }\n#b .c > d::hovr { width: calc(1px+2px); background: URL(x.png) }\n",
    "src/page.html": "<html><body><img src=x><div id=a><div id=a></body><p>t</span></html>\n",
    "README.md": "#Title\n* a\n- b\n\n\n\nText  with trailing   \n### Skipped\nhttp://bare.example\n",
    "test/cart.js": """const assert = require('assert');
describe('cart', () => {
  for (let n = 0; n < 40; n++) it(`adds ${n}`, () => assert.equal(n % 13 === 12 ? n + 1 : n, n));
  it('compares', () => assert.deepEqual({a: 1, b: [1, 2, {c: 3}]}, {a: 1, b: [1, 2, {c: 4}]}));
  it('hangs', done => {}).timeout(60);
  describe('hooks', () => { before(() => { throw new TypeError('no pool'); }); it('never', () => {}); });
});
""",
    "crash.js": "const fs = require('fs');\nprocess.on('exit', c => console.error('exit with', c));\nfunction load(p) { return JSON.parse(fs.readFileSync(p)); }\nPromise.all([1, 2].map(async n => load('/srv/none-' + n + '.json'))).then(console.log);\n",
    "own.test.js": "const test = require('node:test'), assert = require('assert');\nfor (let i = 0; i < 30; i++) test('case ' + i, () => assert.ok(i % 11 != 5, 'i was ' + i));\ntest('async', async () => { throw new RangeError('out of tickets'); });\n",
}
MISC = {
    "conf.yaml": "a: 1\na: 2\nlist:\n - x\n   - y\nkey:   value\nlong: "
    + "x" * 120
    + "\nbad: yes\n",
    "query.sql": "select a,b FROM t where x=1 and y in (select Z from u)\norder by 1\n;insert into t values (1,2 ,3)\n",
    "notes.md": "teh quick recieve\nseperate occured adress\n" * 30,
    "A.java": 'import java.util.*;\nclass A { int f(List<String> l) { for (int s : l) return s; String t = 5; undefined(); } final int x; void g() { int y; y++; throw new Exception("e"); } }\n',
    "t.pl": "use strict; use warnings;\nmy $x = 5; print $y; my @a = (1,2; foreach my $i (@a { print $i }\n",
    "bad.sh": "for i in 1 2; do echo $i\n  if [ $i = 1 ]; then echo one\ndone\n",
}
PROJECTS = {
    "py": PYTHON_PROJECT,
    "c": C_PROJECT,
    "rs": RUST_PROJECT,
    "rsbad": RUST_BROKEN,
    "js": NODE_PROJECT,
    "misc": MISC,
}
"""Files by folder; written before the commands run."""

RECIPE: dict[str, tuple[str, str, tuple[str, ...]]] = {
    # name: (folder, command, facts that the rule does not find)
    "pytest_default": (
        "py",
        "python -m pytest tests",
        ("test_database", "test_unexpected_pass", "test_currency"),
    ),
    "pytest_long_verbose": (
        "py",
        "python -m pytest -vv --tb=long -rA tests",
        ("test_database", "test_currency"),
    ),
    "pytest_native_trace": ("py", "python -m pytest --tb=native -q tests", ("test_database",)),
    "unittest_subtests": (
        "py",
        "python -m unittest -v tests/check_money.py",
        ("test_split", "parts=3", "test_currency"),
    ),
    "python_log_and_group": (
        "py",
        "python deep.py",
        ("A00611", "ConnectionResetError", "sub-exception"),
    ),
    "python_recursion": ("py", "python recursion.py", ("RecursionError",)),
    "python_compileall": ("site", "python -m compileall -f rich pygments/lexers", ()),
    "python_warnings_all": (
        "py",
        "python -W always -X importtime -c 'import asyncio, json, shop.cart'",
        ("shop.cart",),
    ),
    "mypy_strict": ("py", "mypy --strict shop tests", ()),
    "pyright_project": ("py", "pyright shop tests", ()),
    "ruff_all": ("py", "ruff check --select ALL --isolated shop tests deep.py", ("E722", "S307")),
    "ruff_format_diff": ("py", "ruff format --isolated --diff .", ("shop/cart.py", "deep.py")),
    "pylint_project": ("py", "pylint shop deep.py", ("undefined-variable", "bare-except")),
    "pylint_rich": ("site", "pylint --disable=C,R rich", ()),
    "flake8_rich": ("site", "flake8 rich", ()),
    "bandit_text": ("py", "bandit -r shop", ("B303", "B602")),
    "vulture_rich": ("site", "vulture rich", ()),
    "radon_cc": ("site", "radon cc -s rich", ("Table._render", "Traceback")),
    "black_diff": ("py", "black --diff -q .", ("shop/money.py",)),
    "isort_check": (
        "site",
        "isort --check-only --diff rich/console.py rich/table.py",
        ("rich/console.py",),
    ),
    "interrogate_rich": ("site", "interrogate -vv rich", ("RESULT", "TOTAL")),
    "pydocstyle_rich": ("site", "pydocstyle rich/table.py rich/text.py", ("D205",)),
    "coverage_report": (
        "py",
        "sh -c 'coverage run -m unittest tests/check_money.py >/dev/null 2>&1; coverage report -m'",
        ("TOTAL", "shop/cart.py"),
    ),
    "codespell_notes": ("misc", "codespell .", ("teh", "recieve")),
    "yamllint_conf": ("misc", "yamllint conf.yaml", ("duplication of key",)),
    "sqlfluff_query": ("misc", "sqlfluff lint --dialect ansi query.sql", ("query.sql",)),
    "cpplint_c": ("c", "cpplint main.c list.c parse.c leak.c", ()),
    "djlint_page": ("js", "djlint src/page.html --lint", ()),
    "pip_list": ("py", "pip list", ("pydantic", "ruff", "maturin")),
    "pip_show_files": ("py", "pip show -f rich", ("rich/table.py", "Version:")),
    "pip_no_match": ("py", "pip install --no-input 'rich==99.1'", ("99.1",)),
    "pip_install_target": (
        "py",
        "pip install --target out --no-input requests attrs jinja2",
        ("Successfully installed",),
    ),
    "pipdeptree_all": ("py", "pipdeptree", ()),
    "gcc_errors": ("c", "gcc -Wall -Wextra -c broken.c", ()),
    "gxx_template": ("c", "g++ -Wall -c tmpl.cpp", ("tmpl.cpp:6",)),
    "make_link_error": ("c", "make", ("missing_function",)),
    "make_keep_going_debug": ("c", "make -k --debug=b", ("missing_function",)),
    "valgrind_leaks": (
        "c",
        "sh -c 'gcc -g leak.c -o leak && valgrind --leak-check=full ./leak'",
        ("definitely lost", "SIGSEGV"),
    ),
    "gdb_batch": (
        "c",
        'sh -c \'gcc -g leak.c -o leak && gdb -batch -ex run -ex "bt full" -ex "info registers" ./leak\'',
        ("SIGSEGV", "rip"),
    ),
    "objdump_main": (
        "c",
        "sh -c 'gcc -c -g list.c && objdump -d -r list.o'",
        ("<list_add>", "realloc", "<list_sum>"),
    ),
    "readelf_all": ("c", "readelf -a /bin/true", ("Entry point", "NEEDED", "GLIBC_2.34")),
    "nm_libc": ("c", "nm -D /bin/bash", ("execve", "rl_", "optarg")),
    "gcc_verbose": ("c", "gcc -v -c list.c", ("gcc version",)),
    "strace_true": ("c", "strace cat /srv/none", ("ENOENT",)),
    "cargo_test_failures": ("rs", "cargo test", ("takes", "parses", "rejects")),
    "cargo_build_errors": ("rsbad", "cargo build", ("E0583", "E0382", "E0004")),
    "cargo_tree_workspace": ("root", "cargo tree --offline", ("pyo3", "regex-syntax")),
    "cargo_metadata": (
        "root",
        "cargo metadata --offline --format-version 1 --no-deps",
        ("ethos-registry-reduce", "rust/fuzz"),
    ),
    "rustc_explain": ("rs", "rustc --explain E0382", ("Copy",)),
    "tsc_project": ("js", "npx tsc -p .", ("TS2551", "TS7006")),
    "tsc_pretty": ("js", "npx tsc -p . --pretty", ("TS2551",)),
    "eslint_stylish": ("js", "npx eslint src/app.js", ("no-undef", "curly")),
    "eslint_json": ("js", "npx eslint -f json src/app.js", ("no-undef", "windw")),
    "mocha_spec": ("js", "npx mocha", ("hangs", "no pool", "adds 12", "compares")),
    "mocha_json": ("js", "npx mocha --reporter json", ("hangs", "no pool", "compares")),
    "node_test_runner": ("js", "node --test own.test.js", ("out of tickets", "i was 16")),
    "node_rejection": ("js", "node crash.js", ("ENOENT", "none-1.json")),
    "stylelint_css": (
        "js",
        "npx stylelint src/style.css --config-basedir . --config node_modules/stylelint-config-standard/index.js",
        ("colr",),
    ),
    "markdownlint_readme": (
        "js",
        "npx markdownlint README.md node_modules/eslint/README.md",
        ("MD018", "MD034"),
    ),
    "htmlhint_page": ("js", "npx htmlhint src/page.html", ("id-unique",)),
    "prettier_check": ("js", "npx prettier --check src README.md", ("src/app.js",)),
    "jscpd_scan": (
        "js",
        "npx jscpd node_modules/eslint/lib/rules --min-lines 12",
        ("Clone found",),
    ),
    "npm_ls_all": ("js", "npm ls --all", ("typescript", "mocha")),
    "npm_install_missing": ("js", "npm install left-pad-none-existing-zzz@3", ("E404",)),
    "npm_pack_dry": ("js", "npm pack --dry-run", ("src/cart.ts", "total files")),
    "npm_outdated": ("js", "npm view typescript versions", ("5.0.4", "4.9.5")),
    "javac_errors": ("misc", "javac A.java", ()),
    "perl_syntax": ("misc", "perl -c t.pl", ()),
    "bash_syntax": ("misc", "bash -n bad.sh", ()),
    "git_log_default": ("root", "git log -60", ()),
    "git_log_stat": ("root", "git log --stat -12", ()),
    "git_log_oneline": ("root", "git log --oneline -300", ()),
    "git_log_patch": ("root", "git log -p -4 -- rust/core", ()),
    "git_show_wide": ("root", "git show --stat HEAD~40", ()),
    "git_diff_names": ("root", "git diff --name-status HEAD~400 HEAD", ("benches/curve.py",)),
    "git_blame_file": ("root", "git blame benches/curve.py", ("def plain_cut", "SLACK_PERCENT")),
    "git_status_dirty": (
        "gitrepo",
        "git status",
        ("both modified", "deleted by us", "Untracked files"),
    ),
    "git_status_porcelain": (
        "gitrepo",
        "git status --porcelain=v2 --branch -uall",
        ("branch.head", "UU"),
    ),
    "git_merge_conflict": ("gitrepo", "git merge --abort --verbose", ()),
    "git_grep": ("root", "git grep -n reduce_text", ("benches/curve.py:75", "def reduce_text")),
    "git_ls_tree": (
        "root",
        "git ls-tree -r HEAD rust/core",
        ("rust/core/src/lib.rs", "Cargo.toml"),
    ),
    "grep_context": (
        "site",
        "grep -rn -C2 raise rich/console.py rich/table.py rich/progress.py",
        ("errors.",),
    ),
    "grep_files": ("site", "grep -rlc import rich pydantic", ("rich/table.py", "pydantic/main.py")),
    "find_printf": (
        "site",
        "find rich pydantic mypy -name '*.py' -size +40k",
        ("rich/console.py", "pydantic/types.py"),
    ),
    "find_ls": ("site", "find rich -ls", ("rich/_emoji_codes.py",)),
    "ls_recursive": ("site", "ls -laR rich pygments", ("_emoji_codes.py", "pygments/lexers:")),
    "du_tree": ("site", "du -ah pydantic rich", ("pydantic/main.py",)),
    "tar_verbose": ("site", "sh -c 'tar -cf /dev/null -v rich nowhere pygments'", ("nowhere",)),
    "unzip_list": ("zips", "unzip -l pack.zip", ("rich/table.py",)),
    "unzip_test_broken": ("zips", "unzip -t broken.zip", ("bad CRC",)),
    "stat_many": ("site", "sh -c 'stat rich/*.py'", ("rich/table.py",)),
    "wc_many": ("site", "sh -c 'wc rich/*.py pydantic/*.py'", ("total", "rich/console.py")),
    "diff_folders": (
        "py",
        "sh -c 'cp -r shop shop2; sed -i s/cents/units/ shop2/money.py; touch shop2/new.py; diff -ru shop shop2'",
        ("Only in shop2", "self.units"),
    ),
    "systemctl_units": ("py", "systemctl list-units", ()),
    "sqlite_table": (
        "py",
        "sqlite3 -header -column shop.db 'select * from orders'",
        ("lost in transit", "status", "4711"),
    ),
    "sqlite_explain": (
        "py",
        "sqlite3 shop.db 'explain select status, count(*) from orders group by 1' '.schema' 'select * from none'",
        ("CREATE TABLE", "no such table"),
    ),
    "jq_items": (
        "py",
        "sh -c 'python data.py | jq -c .items[]'",
        ("replica lag 94 s", "degraded", '"lost"'),
    ),
    "json_document": (
        "py",
        "python data.py",
        ("replica lag 94 s", "degraded", '"lost"', '"total": 500'),
    ),
    "curl_verbose": ("py", "curl -sv http://127.0.0.1:1/none", ("Connection refused",)),
    "openssl_cert": (
        "py",
        "sh -c 'openssl req -x509 -newkey rsa:2048 -nodes -keyout /dev/null -subj /CN=shop.example -days 3 2>/dev/null | openssl x509 -text -noout'",
        ("shop.example", "Not After", "sha256WithRSAEncryption"),
    ),
    "xxd_dump": ("zips", "sh -c 'xxd pack.zip | head -400'", ("PK",)),
    "dpkg_status": ("py", "dpkg -s gcc git jq", ("Package: jq", "Status: install ok installed")),
    "apt_cache_policy": ("py", "apt-cache show git", ("Package: git", "Version:")),
    "man_page": ("py", "sh -c 'gcc --help=warnings'", ("-Wunused", "-Wshadow")),
    "pydoc_module": ("py", "python -m pydoc json", ("JSONDecodeError", "FUNCTIONS")),
    "awk_report": (
        "site",
        "sh -c \"find . -name '*.py' -path '*rich*' | xargs awk 'END{}FNR==1{f++} /class /{print FILENAME\\\": \\\"FNR\\\": \\\"\\$0}' | sort | uniq -c | sort -rn\"",
        ("class Table",),
    ),
}
"""Name of the file, folder, command, and facts that the rule does not find."""

SOURCES: frozenset[str] = frozenset()

SHELL = """
mkdir zips gitrepo
(cd "$SITE" && zip -qr "$OLDPWD/zips/pack.zip" rich)
python3 - <<'PY'
data = bytearray(open('zips/pack.zip', 'rb').read())
data[90:140] = bytes(50)
data[30_000:30_060] = bytes(60)
open('zips/broken.zip', 'wb').write(data)
PY
cd gitrepo; git init -q -b main; git config user.name dev; git config user.email dev@example.org
for n in $(seq 1 80); do mkdir -p "mod$((n % 6))"; echo "line $n" > "mod$((n % 6))/part$n.txt"; done
git add .; git commit -qm first; git checkout -qb side
echo side > mod1/part1.txt; git rm -q mod2/part2.txt; echo s > mod3/part3.txt; git commit -qam side
git checkout -q main; echo main > mod1/part1.txt; echo m > mod2/part2.txt; git rm -q mod3/part3.txt; git commit -qam main
git merge side; for n in $(seq 4 30); do echo x >> "mod$((n % 6))/part$n.txt"; done; git rm -q mod5/part5.txt
mkdir new; for n in $(seq 1 40); do echo y > "new/file$n.log"; done
git add new/file1.log new/file2.log; cd ..
cd py; sqlite3 shop.db "create table orders(id integer primary key, customer text, status text, cents int);
with recursive n(i) as (select 1 union all select i+1 from n where i<600) insert into orders select i,'customer '||(i*7%91),'shipped',i*37%9000 from n;
update orders set status='lost in transit' where id=417; update orders set cents=4711 where id=300;"
"""
"""Makes the folders `zips` and `gitrepo` and a database, with `$SITE`, the installed packages."""

MADE = ("zips", "gitrepo")
