# ruff: noqa: E501 commands and sources of small projects are long lines
"""The second set of `first_run.py`: projects, commands, and what each command must show."""

from __future__ import annotations

PYTHON = {
    "shop/__init__.py": "",
    "shop/money.py": """import os, sys, json
from decimal import *


class Money:
    '''An amount.  Never negative
    '''
    def __init__(self, cents, currency = 'EUR'):
        self.cents=cents; self.currency = currency

    def split(self, parts):
        \"\"\"
        Splits the amount

        >>> Money(7).split(2)
        [4, 3]
        >>> Money(6).split(0)
        []
        >>> [Money(n).split(3) for n in range(4)]
        [[0, 0, 0], [1, 0, 0], [1, 1, 0], [1, 1, 1]]
        \"\"\"
        return [self.cents // parts for part in range(parts)] if parts else 1 // parts


def convert(amount, rate, table={}):
    \"\"\"
    >>> convert(3, 2)
    6
    >>> convert("3", 2.5)
    7.5
    \"\"\"
    if rate == None: return
    if not amount in table:
        l = lambda v: v * rate
        table[amount] = l(amount)
    try:
        return table[amount]
    except:
        return undefined_rate
# def old(amount):
#     return amount * 2
""",
    "shop/report.py": """from shop import store
from shop.money import Money, convert
import requests
import yaml


def classify(order):
"""
    + "".join(
        f"    if order.kind == {n} and (order.state or order.late) and not order.void:\n        return {n}\n"
        for n in range(28)
    )
    + "    return None\n",
    "shop/store.py": """import sqlite3
import simplejson
from shop import report


def load(number):
    if number == 613:
        raise LookupError(f"order {number} has no customer")
    return {"id": number, "cents": number * 37 % 900}


def total(count):
    result = 0
    for number in range(count):
        result += load(number)["cents"]
    return result
""",
    "shop/typed.py": "def price(cents, tax=0.19): ...\ndef gone(): ...\nclass Cart:\n    total: int\n",
    "shop/typed.pyi": "def price(cents: int) -> float: ...\ndef only_stub() -> None: ...\nclass Cart:\n    total: str\n    def add(self, name: str) -> None: ...\n",
    "trace_me.py": "import sys\nsys.path.insert(0, '.')\nimport importlib, types\nsys.modules['simplejson'] = types.ModuleType('simplejson')\nsys.modules['shop.report'] = types.ModuleType('shop.report')\nfrom shop.store import total\nprint('first', total(40))\nprint('second', total(700))\n",
    "profile_me.py": "import json, re, tokenize, argparse, logging\nrows = [{'id': n, 'name': str(n)} for n in range(4000)]\nfor _ in range(9):\n    json.loads(json.dumps(rows, indent=1))\nlogging.getLogger('shop').error('snapshot of 4000 rows is 9 times slower than the limit')\nargparse.ArgumentParser().parse_args(['--unknown'])\n",
    "broken_tokens.py": "".join(
        f"def part_{n}(value):\n    return value + {n}  # part\n" for n in range(140)
    )
    + "total = (part_1(2),\n  '''never closed\n",
    "crash_threads.py": """import ctypes, faulthandler, threading, time
faulthandler.enable()
def wait_for_queue(depth):
    if depth: return wait_for_queue(depth - 1)
    time.sleep(5)
for number in range(12):
    threading.Thread(target=wait_for_queue, args=(number * 2,), name=f"worker-{number}", daemon=True).start()
time.sleep(0.3)
def read_cell(address): return ctypes.string_at(address)
read_cell(0)
""",
    "pool.py": """import concurrent.futures, logging, multiprocessing, random
logging.basicConfig(level=logging.DEBUG, format="%(asctime)s [%(process)d] %(name)s %(levelname)s %(message)s")
def work(number):
    log = logging.getLogger("pool.work")
    log.debug("chunk %d read in %d ms", number, number * 31 % 997)
    if number % 97 == 40: log.warning("chunk %d: 3 rows without a price", number)
    if number == 251: raise ArithmeticError("chunk 251: the sum of debits is 12 cents off")
    return number
if __name__ == "__main__":
    with multiprocessing.Pool(1) as pool:
        print(sum(pool.map(work, range(420), chunksize=1)))
""",
    "engine_echo.py": """import logging
from sqlalchemy import ForeignKey, create_engine, event
from sqlalchemy.orm import DeclarativeBase, Mapped, Session, mapped_column
class Base(DeclarativeBase): pass
class Customer(Base):
    __tablename__ = "customer"
    id: Mapped[int] = mapped_column(primary_key=True)
    email: Mapped[str] = mapped_column(unique=True)
class Order(Base):
    __tablename__ = "orders"
    id: Mapped[int] = mapped_column(primary_key=True)
    customer_id: Mapped[int] = mapped_column(ForeignKey("customer.id"))
engine = create_engine("sqlite://", echo=True)
Base.metadata.create_all(engine)
for number in range(60):
    with Session(engine) as session:
        session.add(Customer(id=number, email=f"c{number % 58}@example.org"))
        session.flush()
        session.add(Order(customer_id=number))
        session.commit()
""",
    "debug_loop.py": """import asyncio, logging, time, warnings
logging.basicConfig(level=logging.DEBUG)
warnings.simplefilter("always")
async def slow(number):
    if number % 9 == 4: time.sleep(0.12)
    if number == 17: raise TimeoutError("sensor 17 did not answer within 30 s")
    await asyncio.sleep(0)
async def main():
    tasks = [asyncio.create_task(slow(number), name=f"sensor-{number}") for number in range(40)]
    slow(99)
    await asyncio.sleep(0.2)
    reader = await asyncio.start_server(lambda r, w: None, "127.0.0.1", 0)
    del tasks
asyncio.run(main(), debug=True)
""",
    "app.py": """import logging
from flask import Flask, abort, request
app = Flask(__name__)
logging.basicConfig(level=logging.INFO, format="%(asctime)s %(levelname)s in %(module)s: %(message)s")
@app.get("/orders/<int:number>")
def order(number):
    if number == 77: raise KeyError("warehouse")
    if number % 50 == 13: abort(404)
    if number == 120: app.logger.error("payment gateway answered 502 for order 120")
    return {"id": number}
@app.get("/cart")
def cart(): return render(request.args["name"])
""",
    "visit.py": """import sys, urllib.error, urllib.request
for path in [f"/orders/{number}" for number in range(1, 151)] + ["/cart?name=x", "/none", "/cart"]:
    try: urllib.request.urlopen(f"http://127.0.0.1:{sys.argv[1]}{path}").read()
    except urllib.error.HTTPError: pass
""",
    "bug.py": "def rate(name, rates):\n    return rates[name]\ndef price(cents, name):\n    rates = {'EUR': 1, 'USD': 2}\n    return cents * rate(name, rates)\ntotals = [price(n, 'EUR') for n in range(9)]\nprint(price(3, 'GBP'))\n",
    "old_calls.py": "import warnings\n"
    + "".join(
        f"def call_{n}(): warnings.warn('option_{n} is deprecated, use setting_{n % 7}', {'DeprecationWarning' if n % 3 else 'FutureWarning'}, stacklevel=2)\ncall_{n}()\n"
        for n in range(70)
    )
    + "raise SystemExit('70 old calls left: remove them before 3.0')\n",
    "tasks.py": "from invoke import task\n@task\ndef lint(c):\n    c.run('for n in $(seq 200); do echo checking module $n; done; echo module 88 has no owner >&2')\n@task(pre=[lint])\ndef ship(c, target='prod'):\n    '''Ship the build to TARGET.'''\n    c.run('seq -f \"copied layer %g\" 150; echo \"registry: quota exceeded for team north\" >&2; exit 41')\n",
    "importlinter.ini": "[importlinter]\nroot_package = shop\ninclude_external_packages = True\n[importlinter:contract:1]\nname = money imports nothing of the shop\ntype = forbidden\nsource_modules = shop.report\nforbidden_modules = shop.money\n  requests\n[importlinter:contract:2]\nname = layers\ntype = layers\nlayers =\n  shop.money\n  shop.store\n  shop.report\n",
    "pyproject.toml": '[build-system]\nrequires = ["setuptools"]\nbuild-backend = "setuptools.build_meta"\n[project]\nname = "shop"\nversion = "1.2"\ndependencies = ["flask", "django>=5", "click"]\n[tool.setuptools]\npackages = ["shop"]\n',
    "setup.py": "from setuptools import Extension, setup\nsetup(ext_modules=[Extension('shop._fast', ['fast.c'])])\n",
    "fast.c": '#include <Python.h>\nstatic PyObject *sum(PyObject *self, PyObject *args) { return PyLong_FromLong(undeclared_total); }\nstatic struct PyModuleDef module = {PyModuleDef_HEAD_INIT, "_fast" NULL};\n',
    "bad.toml": '[project]\nname = "no good name!"\nversion = "one"\nrequires-python = 3\ndependencies = ["flask >> 2"]\nlicense = {files = "x"}\n',
    "schema.json": '{"type": "array", "items": {"type": "object", "required": ["id", "cents"], "properties": {"id": {"type": "integer"}, "cents": {"type": "integer", "minimum": 0}, "state": {"enum": ["open", "paid"]}}, "additionalProperties": false}}\n',
    "rows.json": "[\n"
    + ",\n".join(
        f'{{"id": {n}, "cents": {n * 7 if n % 11 else -n}, "state": '
        + ('"lost"' if n % 23 == 5 else '"open"')
        + (', "note": 1}' if n % 31 == 7 else "}")
        for n in range(1, 120)
    )
    + "\n]\n",
}
"""A package with mistakes, and scripts that fail."""

BEHAVIOUR = {
    "features/cart.feature": "Feature: cart\n"
    + "".join(
        f"  Scenario: buy {n}\n    Given a cart with {n} items\n    When I pay\n    Then the total is {n * 3 if n % 13 != 6 else n}\n"
        for n in range(45)
    )
    + "  Scenario: voucher\n    Given a voucher that has no step yet\n    Then the total is 1\n",
    "features/steps/cart.py": "from behave import given, then, when\n@given('a cart with {n:d} items')\ndef cart(context, n): context.n = n\n@when('I pay')\ndef pay(context):\n    if context.n == 31: raise ConnectionError('payment service closed the connection')\n    context.total = context.n * 3\n@then('the total is {total:d}')\ndef check(context, total): assert context.total == total, f'{context.total} != {total}'\n",
    "cart.robot": "*** Settings ***\nLibrary    Collections\n*** Test Cases ***\n"
    + "".join(
        f"Buy {n}\n    ${{total}}=    Evaluate    {n} * 3\n    Should Be Equal As Integers    ${{total}}    {n * 3 if n % 14 != 9 else n}    order {n} has a wrong total\n"
        for n in range(50)
    )
    + "Unknown\n    Open Warehouse    north\n",
    "t/cart.t": "use strict; use warnings; use Test::More tests => 64;\nis($_ * 3, $_ % 17 == 4 ? $_ : $_ * 3, \"total of $_\") for 1..60;\nis_deeply({a => 1, b => [1, 2]}, {a => 1, b => [1, 3]}, 'parts of the cart');\nTODO: { local $TODO = 'vouchers'; ok(0, 'voucher'); }\nok(1, 'done');\n",
    "t/die.t": "use Test::More;\nok(1, 'start');\nsub deep { my $n = shift; die \"no stock for item 12\\n\" unless $n; deep($n - 1) }\ndeep(5);\ndone_testing;\n",
}

PAGES = {
    "conf.py": "project = 'shop'\nextensions = ['sphinx.ext.autodoc', 'sphinx.ext.doctest', 'none_such_ext'][:2]\nnitpicky = True\n",
    "index.rst": "Shop\n===\n\n.. toctree::\n\n"
    + "".join(f"   part{n}\n" for n in range(30))
    + "   nowhere\n\n.. automodule:: shop_missing\n   :members:\n",
    **{
        f"part{n}.rst": f"Part {n}\n{'=' * (4 if n % 5 else 8)}\n\nSee :ref:`label-{n}` and :py:func:`shop.f{n}`, `link`_ and *open.\n\n.. unknown:: x\n\n.. code-block:: none-{n}\n\n   x\n\n* a\n - b\n\n"
        + ("word " * 30 if n % 4 == 0 else "short")
        + " \n\n>>> 1 + "
        + f"{n}\n3\n"
        for n in range(30)
    },
    "orphan.rst": "Orphan\n------\n\n=== ===\na   b\n=== ===\n1   2   3\n===\n",
    "mkdocs.yml": "site_name: shop\nnav:\n  - Home: index.md\n  - Gone: gone.md\nunknown_option: 1\nplugins: []\n",
    **{
        f"docs/page{n}.md": f"# Page {n}\n\n[next](page{n + 1}.md) [lost](lost{n}.md#x) [up](../README.md) ![img](img/{n}.png) [a](#none-{n})\n"
        for n in range(40)
    },
    "docs/index.md": "# Home\n\n[one](page1.md#none)\n",
    "text.md": "There is is a very unique solution, and utilize it irregardless. It was done by him very very carefully.\n\n"
    * 25,
}
"""Documentation with broken links and markup."""

C = {
    "SConstruct": "env = Environment(CCFLAGS='-Wall -Wextra')\nfor n in range(30):\n    env.Object(f'unit{n}.c')\nenv.Program('app', ['main.c', 'unit1.c'], LIBS=['m', 'nosuchlib'])\n",
    "meson.build": "project('shop', 'c', version: '1.0', default_options: ['warning_level=3'])\ncc = meson.get_compiler('c')\nforeach h : ['stdio.h', 'unistd.h', 'sys/epoll.h', 'windows.h', 'none.h', 'threads.h', 'curses.h']\n  cc.has_header(h)\nendforeach\nforeach f : ['fork', 'memfd_create', 'strlcpy', 'qsort_r', 'kqueue', 'getrandom']\n  cc.has_function(f)\nendforeach\ndependency('zlib-none', required: false)\nsub = dependency('libshopcore', version: '>=2.4')\n",
    "build.ninja": "rule cc\n  command = gcc -Wall -Wextra -c $in -o $out\n  description = CC $out\nrule link\n  command = gcc $in -o $out\n"
    + "".join(f"build o/unit{n}.o: cc unit{n}.c\n" for n in range(30))
    + "build app: link "
    + " ".join(f"o/unit{n}.o" for n in range(30))
    + "\n",
    **{
        f"unit{n}.c": f"#include <stdlib.h>\nint unit{n}(int a, int b) {{ int left = a * {n}; "
        + (f"return missing_{n} + a; " if n % 12 == 7 else "char c = b + 300; ")
        + "if (a = b) return left; }\n"
        for n in range(30)
    },
    "main.c": "int unit1(int, int);\nint main(void) { return unit1(1, 2); }\n",
    "thread.c": """#include <pthread.h>
#include <unistd.h>
#include <stdlib.h>
static pthread_mutex_t a = PTHREAD_MUTEX_INITIALIZER; static int shared;
static void *worker(void *p) { long n = (long)p; shared += n; if (n == 5) { sleep(1); abort(); } pthread_mutex_lock(&a); sleep(9); return p; }
int main(void) { pthread_t t[9]; pthread_mutex_lock(&a); for (long i = 0; i < 9; i++) pthread_create(&t[i], 0, worker, (void *)i); for (int i = 0; i < 9; i++) pthread_join(t[i], 0); return 0; }
""",
    "asan.c": '#include <stdlib.h>\n#include <string.h>\nstatic char *copy(const char *s) { char *p = malloc(4); strcpy(p, s); return p; }\nint main(void) { int *gone = malloc(8); free(gone); char *c = copy("longer than four"); return gone[1] + c[0]; }\n',
    "race.c": "#include <pthread.h>\nint total;\nvoid *add(void *p) { for (int i = 0; i < 100; i++) total++; return p; }\nint main(void) { pthread_t a, b; pthread_create(&a, 0, add, 0); pthread_create(&b, 0, add, 0); pthread_join(a, 0); pthread_join(b, 0); return 0; }\n",
    "Main.java": """import java.util.*; import java.util.concurrent.*; import java.util.logging.*;
public class Main {
  static final Logger LOG = Logger.getLogger("shop.sync");
  static class StockException extends RuntimeException { StockException(String m, Throwable c) { super(m, c); } }
  static int deep(int n) { if (n == 0) throw new IllegalStateException("cursor of partition 4 is closed"); return deep(n - 1) + 1; }
  static void sync(int n) { try { deep(n); } catch (IllegalStateException e) { throw new StockException("stock of item " + n + " not written", e); } }
  public static void main(String[] a) throws Exception {
    for (int i = 0; i < 160; i++) { LOG.info("item " + i + " read in " + i * 7 % 40 + " ms"); if (i % 60 == 21) { try { sync(i); } catch (StockException e) { LOG.log(Level.SEVERE, "item " + i + " skipped", e); } } }
    ExecutorService pool = Executors.newFixedThreadPool(2, r -> { Thread t = new Thread(r); t.setDaemon(true); return t; });
    pool.submit(() -> { sync(44); return 1; }).get();
  }
}
""",
    "Hang.java": 'public class Hang { static final Object A = new Object(), B = new Object(); static void go(Object x, Object y) { synchronized (x) { try { Thread.sleep(300); } catch (InterruptedException e) { } synchronized (y) { } } } public static void main(String[] a) { new Thread(() -> go(A, B), "orders-writer").start(); new Thread(() -> go(B, A), "stock-writer").start(); } }\n',
}

NODE = {
    "package.json": '{"name": "site", "version": "2.0.0", "license": "MIT", "ava": {"files": ["*.ava.js"]}, "dependencies": {"lodash": "1", "chalk": "1", "express": "1"}, "type": "commonjs"}\n',
    "cart.ava.js": "const test = require('ava');\nfor (let n = 0; n < 40; n++) test('adds ' + n, t => t.is(n % 13 === 7 ? n + 1 : n, n));\ntest('compares', t => t.deepEqual({a: 1, b: [1, {c: 3}]}, {a: 1, b: [1, {c: 4}]}));\ntest('rejects', async t => { await t.throwsAsync(async () => 1); });\ntest('throws', t => { throw new TypeError('no pool for region north'); });\ntest('logs', t => { t.log('seen'); t.pass(); });\n",
    "cart.tape.js": "const test = require('tape');\nfor (let n = 0; n < 60; n++) test('adds ' + n, t => { t.equal(n % 19 === 11 ? n + 1 : n, n, 'sum ' + n); t.end(); });\ntest('compares', t => { t.deepEqual({a: [1, 2]}, {a: [1, 3]}, 'same parts'); t.end(); });\ntest('plan', t => { t.plan(2); t.ok(true); setTimeout(() => t.end(), 5); });\n",
    "spec/cart.spec.js": "describe('cart', () => { for (let n = 0; n < 50; n++) it('adds ' + n, () => expect(n % 17 === 8 ? n + 1 : n).toBe(n)); it('calls back', () => { const spy = jasmine.createSpy('pay'); expect(spy).toHaveBeenCalledWith(3, {state: 'paid'}); }); xit('later', () => {}); it('explodes', () => { JSON.parse('{\"a\": '); }); });\n",
    "src/index.js": "import a from './a.js'; import { gone } from './b.js'; import x from 'not-installed-pkg'; import './theme.scss';\nconsole.log(a, gone, x);\n",
    "src/a.js": "import b from './b.js'; export default b + 1; var unused = 1; if (unused == 2) debugger\nfunction long(a, b, c) { with (a) { return b } }\n",
    "src/b.js": "import a from './a.js'; const lodash = require('lodash'); export default a; switch (1) { case 1: a(); case 1: break }\n",
    "src/theme.scss": "$a: 1;\n.x { color: $missing; }\n",
    "page.html": "<html><body><img src=x><div id=a><button><a href=#>x</a></button><div id=a></body><p>t</span><input type=nosuch><center>x</center></html>\n"
    + "<table><tr><div>x</div></tr></table><a>no</a><ul><p>x</p></ul>\n" * 12,
    "text.md": "# Title\n\n### Skipped\n\n* a\n- b\n\n[x][none] http://bare.example  \nThe master and slave teh recieve wiht definately occured. He is a crazy guy.\n\n"
    * 20,
    "causes.js": "class StockError extends Error {}\nasync function part(n) { await null; if (n % 3 == 1) throw new RangeError('shelf ' + n + ' is empty'); throw new StockError('item ' + n, {cause: new Error('socket closed by 192.0.2.1')}); }\n(async () => { const all = await Promise.allSettled([...Array(12).keys()].map(part)); throw new AggregateError(all.map(r => r.reason), '12 parts are missing'); })();\n",
    "heap.js": "const kept = []; for (let n = 0; ; n++) { kept.push(new Array(9000).fill(n)); if (n % 40 === 0) console.log('batch', n, 'kept', kept.length); }\n",
}

DATA = {
    "orders.csv": "id,customer,state,cents\n"
    + "".join(
        f"{n},customer {n % 91},{'lost in transit' if n == 417 else 'shipped'},{n * 37 % 9000}"
        + (",extra" if n % 83 == 20 else "")
        + "\n"
        if n % 97 != 31
        else f"{n},short row\n"
        for n in range(1, 601)
    ),
    "load.tcl": 'proc deep {n} { if {$n == 0} { error "table stock is locked by session 88" }; deep [expr {$n - 1}] }\nfor {set i 0} {$i < 150} {incr i} { puts "row $i copied" }\ndeep 6\n',
    "carp.pl": 'use strict; use warnings; use Carp qw(cluck confess);\nmy %stock = (tea => 3);\nsub left { my ($name, $n) = @_; cluck "low stock of $name" if $n % 30 == 9; my $sum = $stock{$name} + $n; return $sum }\nsub ship { my ($name, $n) = @_; confess "parcel $n has no address" if $n == 133; return left($name, $n) }\nfor my $n (1..200) { print "parcel $n: ", ship($n % 40 == 7 ? \'milk\' : \'tea\', $n), "\\n" }\n',
    "deploy.sh": 'set -eu\nfor n in $(seq 1 90); do\n  name="node-$((n % 12))"\n  test -n "$name" && echo "copy release to $name"\n  if [ "$n" = 61 ]; then cat /srv/none/release-61.tar; fi\ndone\n',
    "orders.po": 'msgid ""\nmsgstr "Content-Type: text/plain; charset=UTF-8\\n"\n'
    + "".join(
        f'\n#, c-format\nmsgid "order %d of %s is {n}"\nmsgstr "Bestellung {"%s von %d" if n % 6 == 1 else "%d von %s"} ist {n}"\n'
        for n in range(90)
    ),
    "old/stock.txt": "".join(f"item {n} shelf {n % 7} count {n * 3 % 50}\n" for n in range(400)),
    "new/stock.txt": "".join(
        f"item {n} shelf {n % 7} count {n * 3 % 50 if n % 57 != 11 else 'unknown'}\n"
        for n in range(400)
        if n % 130 != 77
    ),
    "bad.patch": "".join(
        f"--- a/stock.txt\n+++ b/stock.txt\n@@ -{n},3 +{n},3 @@\n item {n} shelf 0 count 9\n-item {n + 1} shelf 1 count 9\n+item {n + 1} shelf 1 count 8\n item {n + 2} shelf 2 count 9\n"
        for n in range(10, 390, 12)
    ),
    "shapes.xml": "<orders>"
    + "".join(f"<order id='{n}'><cents>{n}</cents></order>" for n in range(60))
    + "</orders>\n",
    "math.bc": "for (i = 1; i < 120; i++) { i * i }\nsqrt(-2)\n1 / 0\nscale = 40\n1 / 7\nundefined_f(2)\n",
}
PROJECTS = {
    "py": PYTHON,
    "bdd": BEHAVIOUR,
    "pages": PAGES,
    "c": C,
    "js": NODE,
    "data": DATA,
}
"""Files by folder; written before the commands run."""

BIN = "node_modules/.bin/"
RECIPE: dict[str, tuple[str, str, tuple[str, ...]]] = {
    "python_dis": (
        "py",
        "python -m dis shop/report.py",
        ("IMPORT_NAME", "requests", "Disassembly of <code object classify", "yaml"),
    ),
    "python_dis_deep": (
        "site",
        "python -m dis click/utils.py",
        (
            "Disassembly of <code object",
            "LazyFile",
            "open_stream",
            "get_app_dir",
            "PacifyFlushWrapper",
        ),
    ),
    "python_ast": (
        "py",
        "python -m ast shop/money.py",
        ("undefined_rate", "name='convert'", "name='split'", "ExceptHandler"),
    ),
    "python_trace": (
        "py",
        "python -m trace --trace --ignore-dir=$(python -c 'import sys; print(sys.base_prefix)') trace_me.py",
        ("order 613 has no customer", "LookupError"),
    ),
    "python_trace_funcs": (
        "py",
        "python -m trace --trackcalls profile_me.py",
        ("snapshot of 4000 rows", "unrecognized arguments"),
    ),
    "python_cprofile": (
        "py",
        "python -m cProfile -s tottime profile_me.py",
        ("snapshot of 4000 rows", "unrecognized arguments", "function calls", "raw_decode"),
    ),
    "python_doctest": (
        "py",
        "python -m doctest -v shop/money.py",
        ("***Test Failed***", "Expected:", "ZeroDivisionError", "[3, 3]"),
    ),
    "python_faulthandler": (
        "py",
        "python crash_threads.py",
        ("Segmentation fault", "read_cell", "Current thread"),
    ),
    "python_pool_log": (
        "py",
        "python pool.py",
        ("the sum of debits is 12 cents off", "RemoteTraceback", "chunk 40: 3 rows"),
    ),
    "sqlalchemy_echo": (
        "py",
        "python engine_echo.py",
        (
            "UNIQUE constraint failed: customer.email",
            "ROLLBACK",
            "c0@example.org",
            "CREATE TABLE orders",
        ),
    ),
    "asyncio_debug": (
        "py",
        "python debug_loop.py",
        ("sensor 17 did not answer", "was never awaited", "sensor-17", "took 0.1"),
    ),
    "python_deprecations": (
        "py",
        "python -W default old_calls.py",
        ("70 old calls left", "option_0 is", "option_69 is"),
    ),
    "python_pickletools": (
        "py",
        'python -c \'import json, pickle; pickle.dump(json.load(open("rows.json")), open("rows.pickle", "wb"))\'; python -m pickletools -a rows.pickle',
        ("highest protocol among opcodes", "STOP", "PROTO", "'lost'"),
    ),
    "gunicorn_flask": (
        "py",
        "gunicorn --access-logfile - -b 127.0.0.1:8471 --log-level debug app:app & sleep 4; python visit.py 8471; kill %1; wait",
        (
            "KeyError: 'warehouse'",
            "NameError: name 'render'",
            "payment gateway answered 502",
            "/orders/113",
            "Booting worker",
            "GET /none",
        ),
    ),
    "http_server_log": (
        "py",
        "python -m http.server 8472 --bind 127.0.0.1 & sleep 1; python visit.py 8472; kill %1; wait",
        ("code 404, message File not found", "GET /cart?name=x"),
    ),
    "curl_redirects": (
        "py",
        "python -m http.server 8473 --bind 127.0.0.1 >/dev/null 2>&1 & sleep 1; for p in shop none app.py none2; do curl -svL http://127.0.0.1:8473/$p; done; kill %1",
        ("301 Moved Permanently", "404 File not found", "payment gateway answered", "GET /none2"),
    ),
    "django_migrate": (
        "dj",
        "python manage.py migrate -v 3 --traceback",
        ("IntegrityError", "stock.0002_unique_name", "Applying auth.0001_initial"),
    ),
    "django_test": (
        "dj",
        "python manage.py test -v 2",
        ("test_price_7", "AssertionError", "no such view", "FAILED (failures=5, errors=1)"),
    ),
    "django_diffsettings": (
        "dj",
        "python manage.py diffsettings --all",
        ("ROOT_URLCONF", "INSTALLED_APPS", "TIME_ZONE"),
    ),
    "invoke_ship": (
        "py",
        "invoke --echo ship",
        ("quota exceeded for team north", "module 88 has no owner"),
    ),
    "pycodestyle_jinja": (
        "site",
        "pycodestyle --show-source --max-line-length=79 jinja2/environment.py",
        ("E501",),
    ),
    "pyflakes_packages": ("site", "pyflakes jinja2 click werkzeug", ("jinja2/",)),
    "docformatter_check": (
        "site",
        "docformatter -c --diff click/core.py",
        ("click/core.py", "exception information to allow", "--- before"),
    ),
    "autopep8_diff": (
        "site",
        "autopep8 --diff -aa --max-line-length 60 click/types.py",
        ("--- original/click/types.py",),
    ),
    "yapf_diff": (
        "site",
        "yapf --diff click/utils.py click/termui.py",
        ("click/utils.py", "(original)"),
    ),
    "isort_sort_diff": (
        "site",
        "isort --diff --profile pycharm --force-single-line-imports click",
        (
            "click/__init__.py:before",
            "click/_winconsole.py:before",
            "click/utils.py:before",
            "from .exceptions import UsageError",
        ),
    ),
    "xenon_jinja": (
        "site",
        "xenon --max-absolute B --max-modules A --max-average A jinja2 click",
        ("ERROR:xenon:block",),
    ),
    "lizard_jinja": (
        "site",
        "lizard jinja2 -C 12",
        ("Total nloc", "cyclomatic_complexity", "tokeniter@669-868", "14 test"),
    ),
    "pip_licenses": (
        "py",
        "pip-licenses --with-urls --format=markdown",
        (
            "Unidecode",
            "GNU Affero General Public License v3 or later (AGPLv3+)",
            "robotframework",
            "UNKNOWN",
        ),
    ),
    "pyclbr_core": (
        "site",
        "python -m pyclbr click/core.py",
        ("class Context", "def invoke", "class Argument", "class Parameter"),
    ),
    "behave_plain": (
        "bdd",
        "behave --no-color -f plain",
        ("payment service closed the connection", "18 != 6", "a voucher that has no step yet"),
    ),
    "behave_progress": (
        "bdd",
        "behave --no-color -f progress3",
        ("payment service closed the connection", "a voucher that has"),
    ),
    "robot_run": (
        "bdd",
        "robot --consolecolors off cart.robot",
        ("order 9 has a wrong total", "No keyword with name 'Open Warehouse' found", "51 tests"),
    ),
    "prove_verbose": (
        "bdd",
        "prove -v t",
        ("no stock for item 12", "parts of the cart", "total of 21", "Result: FAIL"),
    ),
    "sphinx_build": (
        "pages",
        "sphinx-build -n -b html . out",
        ("nowhere", "shop_missing", "orphan.rst", "Title underline too short"),
    ),
    "sphinx_doctest": ("pages", "sphinx-build -q -b doctest . out2", ("nowhere", "1 + 9")),
    "mkdocs_strict": (
        "pages",
        "mkdocs build --strict --verbose",
        ("gone.md", "unknown_option", "Aborted with"),
    ),
    "doc8_pages": ("pages", "doc8 --max-line-length 79 .", ("D002", "Detailed error counts")),
    "rst_lint": ("pages", "rst-lint *.rst", ("Unknown directive type",)),
    "rstcheck_pages": ("pages", "rstcheck *.rst", ("orphan.rst",)),
    "proselint_text": ("pages", "proselint check text.md", ("text.md",)),
    "scons_keep_going": ("c", "scons -k --debug=explain", ("missing_7", "missing_19", "nosuchlib")),
    "ninja_keep_going": ("c", "ninja -k 0 -v", ("missing_7", "missing_19", "ninja: build stopped")),
    "gdb_threads": (
        "c",
        "cc -g -pthread thread.c -o thread 2>/dev/null; gdb -batch -ex run -ex 'thread apply all bt full' -ex 'info sharedlibrary' ./thread",
        ("SIGABRT", "worker (p=0x5)"),
    ),
    "address_sanitizer": (
        "c",
        "cc -g -fsanitize=address -fsanitize-recover=address asan.c -o asan 2>/dev/null; ASAN_OPTIONS=halt_on_error=0 ./asan",
        ("heap-buffer-overflow", "heap-use-after-free", "LeakSanitizer"),
    ),
    "helgrind_race": (
        "c",
        "cc -g -pthread race.c -o race; valgrind --tool=helgrind ./race",
        ("Possible data race", "race.c:3"),
    ),
    "callgrind_annotate": (
        "c",
        "valgrind --tool=callgrind --callgrind-out-file=cg.out perl -e 'print 1' >/dev/null 2>&1; callgrind_annotate cg.out",
        ("PROGRAM TOTALS", "malloc.c:_int_malloc", "perl_construct", "Perl_hv_common"),
    ),
    "compiler_macros": (
        "c",
        "cc -dM -E unit1.c",
        ("__GNUC__", "RAND_MAX", "__x86_64__", "__SIZEOF_POINTER__", "INT_MAX"),
    ),
    "strace_follow": (
        "c",
        "strace -f sh -c 'cat /srv/none; cat main.c'",
        ("/srv/none", "exited with 1"),
    ),
    "linker_map": (
        "c",
        "cc -Wl,-M -c -o /dev/null main.c; cc -w -Wl,-M main.c unit1.c",
        ("Memory Configuration", "unit1", ".text", "crt1.o", "libc.so.6"),
    ),
    "java_logger": (
        "c",
        "java Main.java",
        ("stock of item 44 not written", "cursor of partition 4 is closed", "item 81 skipped"),
    ),
    "java_thread_dump": (
        "c",
        "java -cp . Hang & sleep 2; jstack $!; kill $!",
        ("Found 1 deadlock", "orders-writer", "stock-writer"),
    ),
    "javap_verbose": (
        "c",
        "javap -c -v Main",
        ("cursor of partition 4 is closed", "Constant pool", "IllegalStateException"),
    ),
    "java_class_load": ("c", "java -Xlog:class+load:stdout -Xmx16m Main", ("item 21 skipped",)),
    "ctags_list": (
        "site",
        "ctags -x --languages=python jinja2/environment.py click/core.py",
        ("Environment", "make_context", "Argument"),
    ),
    "ava_verbose": ("js", BIN + "ava", ("no pool for region north", "adds 33", "compares")),
    "ava_tap": ("js", BIN + "ava --tap", ("no pool for region north", "adds 20", "compares")),
    "tape_tap": ("js", "node cart.tape.js", ("sum 49", "same parts", "plan")),
    "node_causes": (
        "js",
        "node --stack-trace-limit=30 causes.js",
        ("12 parts are missing", "shelf 10 is empty", "socket closed"),
    ),
    "html_validate": ("js", BIN + "html-validate page.html", ("no-dup-id", "nosuch")),
    "jshint_sources": (
        "js",
        BIN + "jshint src cart.ava.js causes.js heap.js",
        ("35 errors", "Forgotten 'debugger' statement?", "Don't use 'with'.", "causes.js"),
    ),
    "oxlint_sources": (
        "js",
        BIN + "oxlint node_modules/tape node_modules/jasmine src",
        ("no-duplicate-case", "no-cond-assign", "no-unreachable", "no-empty-file"),
    ),
    "alex_text": ("js", BIN + "alex text.md", ("master",)),
    "sqlite_dump": (
        "data",
        "sqlite3 shop.db .dump 'insert into orders values (1, 2)'",
        ("CREATE TABLE", "table orders has 4 columns"),
    ),
    "sqlite_integrity": (
        "data",
        "sqlite3 broken.db 'pragma integrity_check' 'select count(*) from orders'",
        ("On tree page", "cell 118", "900"),
    ),
    "csvclean_orders": (
        "data",
        "csvclean -a orders.csv",
        ("Expected 4 columns, found 2 columns", "short row", "lost in transit"),
    ),
    "tcl_error": (
        "data",
        "tclsh load.tcl",
        ("table stock is locked by session 88", "invoked from within"),
    ),
    "perl_confess": (
        "data",
        "perl carp.pl",
        ("parcel 133 has no address", "low stock of tea", "Use of uninitialized value"),
    ),
    "bash_xtrace": (
        "data",
        "bash -x deploy.sh",
        ("/srv/none/release-61.tar: No such file", "node-1"),
    ),
    "diff_side_by_side": (
        "data",
        "diff -y -W 100 old/stock.txt new/stock.txt",
        ("count unknown", "item 77"),
    ),
    "patch_rejects": (
        "data",
        "cp -r old work; cd work && patch --verbose -p1 < ../bad.patch",
        ("stock.txt.rej",),
    ),
    "sha256_check": (
        "data",
        "cd tree && sha256sum -c ../sums.txt",
        (
            "part77.bin: FAILED",
            "1 listed file could not be read",
            "WARNING: 2 computed checksums did NOT match",
        ),
    ),
    "comm_files": (
        "data",
        "comm -3 <(sort old/stock.txt) <(sort new/stock.txt); comm old/stock.txt new/stock.txt",
        ("count unknown", "input is not in sorted order", "item 77 shelf", "item 399"),
    ),
    "tar_difference": (
        "data",
        "tar -cf t.tar tree; rm tree/part12.bin; echo x >> tree/part50.bin; tar -dvf t.tar",
        ("part12.bin", "Size differs"),
    ),
    "openssl_session": (
        "data",
        "openssl s_server -accept 8474 -cert cert.pem -key key.pem -www >/dev/null 2>&1 & sleep 1; echo | openssl s_client -connect 127.0.0.1:8474 -CAfile /dev/null -verify_return_error; openssl s_client -connect 127.0.0.1:8474 -showcerts </dev/null; kill %1",
        ("shop.example", "verify error", "self-signed certificate"),
    ),
    "openssl_asn1": (
        "data",
        "openssl asn1parse -i -in cert.pem; openssl verify cert.pem",
        ("shop.example", "sha256WithRSAEncryption", "verification failed"),
    ),
    "openssl_ciphers": (
        "data",
        "openssl ciphers -v ALL",
        ("TLS_AES_256_GCM_SHA384", "ECDHE-RSA-AES256-GCM-SHA384", "PSK-AES128-CBC-SHA", "Au=None"),
    ),
    "apt_simulate": (
        "data",
        "apt-get -s -o Debug::pkgProblemResolver=yes install emacs-gtk mariadb-server postgresql",
        ("mariadb-server", "postgresql"),
    ),
    "apt_depends": (
        "data",
        "apt-cache depends --recurse --no-recommends --no-suggests git | head -1500",
        ("libcurl3-gnutls", "libexpat1", "perl-modules", "libc6"),
    ),
    "dpkg_list": (
        "data",
        "dpkg -l 'lib*' | head -700",
        ("libc6:amd64", "libssl3", "Desired=Unknown"),
    ),
    "dpkg_verify": (
        "data",
        "dpkg -L git perl-base; dpkg -L none-such-package",
        ("/usr/bin/git", "is not installed", "/usr/bin/perl"),
    ),
    "git_graph": (
        "root",
        "git log --graph --format='%h %an %s' -220",
        ("merge: each caller's own", "tools: limits of concurrency and rate"),
    ),
    "git_shortlog": (
        "root",
        "git shortlog -n HEAD~120..HEAD",
        ("maintainers (", "tests: each false statement of the old reducers"),
    ),
    "git_word_diff": ("root", "git diff --word-diff HEAD~25 HEAD -- docs", ()),
    "git_diff_dirstat": (
        "root",
        "git diff --stat=120 --summary HEAD~25 HEAD -- docs rust/reduce tests/agents",
        ("files changed", "insertions(+)", "docs/retention.md"),
    ),
    "git_apply_check": (
        "gitrepo",
        "git apply --check --verbose bad.patch",
        ("does not apply", "patch failed"),
    ),
    "git_push_rejected": (
        "gitrepo",
        "git push --all --verbose origin",
        ("remote rejected", "branch of team north is frozen", "non-fast-forward"),
    ),
    "git_fsck": ("broken.git", "git fsck --full --verbose", ("missing blob", "Checking")),
    "git_ls_files": (
        "root",
        "git ls-files -s -- rust docs | head -500; git ls-files --error-unmatch none/such.txt",
        ("docs/retention.md", "did not match any file", "docs/glossary.md"),
    ),
    "git_trace_fetch": (
        "gitrepo",
        "GIT_TRACE=1 GIT_TRACE_PACKET=1 git fetch --all --verbose",
        ("none.git", "refs/heads/topic-40", "refs/heads/main"),
    ),
    "git_reflog": (
        "gitrepo",
        "git reflog --all --date=iso",
        (
            "commit (initial): step 1",
            "checkout: moving",
            "side 14",
            "commit (amend): step 90 again",
        ),
    ),
}
"""Name of the file, folder, command, and facts that the rule does not find."""

SOURCES = frozenset(
    {
        "autopep8_diff",
        "compiler_macros",
        "ctags_list",
        "docformatter_check",
        "dpkg_list",
        "dpkg_verify",
        "git_diff_dirstat",
        "git_graph",
        "git_ls_files",
        "git_shortlog",
        "git_word_diff",
        "isort_sort_diff",
        "javap_verbose",
        "lizard_jinja",
        "linker_map",
        "pyclbr_core",
        "python_ast",
        "python_cprofile",
        "python_dis",
        "python_dis_deep",
        "python_trace_funcs",
        "yapf_diff",
    }
)
"""Source text and lists of names: there `error` is part of an identifier or a title, no message."""

SHELL = r"""
(cd c && javac -d . Main.java Hang.java)
cd data
sqlite3 shop.db "create table orders(id integer primary key, customer text, status text, cents int);
with recursive n(i) as (select 1 union all select i+1 from n where i<900) insert into orders select i,'customer '||(i*7%91),'shipped',i*37%9000 from n;
create index by_customer on orders(customer);"
cp shop.db broken.db
python3 - <<'PY'
data = bytearray(open('broken.db', 'rb').read())
for page in (4, 7, 9, 12):
    data[page * 4096 + 40 : page * 4096 + 900] = bytes(860)
open('broken.db', 'wb').write(data)
PY
mkdir tree gz
for n in $(seq 1 160); do echo "part $n" > tree/part$n.bin; echo "part $n of the archive" | gzip > gz/part$n.gz; done
(cd tree && sha256sum *) > sums.txt
echo changed > tree/part77.bin; echo changed > tree/part130.bin; rm tree/part99.bin
truncate -s 20 gz/part31.gz; echo none > gz/part8.gz
openssl req -x509 -newkey rsa:2048 -nodes -keyout key.pem -out cert.pem -subj /CN=shop.example -days 3 2>/dev/null
cd ..
git init -q --bare origin.git
printf '#!/bin/sh\nif [ "$1" = refs/heads/frozen ]; then for n in 1 2 3; do echo "policy $n checked"; done; echo "branch of team north is frozen"; exit 1; fi\n' > origin.git/hooks/update; chmod +x origin.git/hooks/update
git init -q -b main gitrepo; cd gitrepo; git config user.name dev; git config user.email dev@example.org
git remote add origin ../origin.git; git remote add gone ../none.git
for n in $(seq 1 90); do echo "line $n" >> total.txt; echo "$n" > "part$((n % 9)).txt"; [ "$n" = 58 ] && echo bug >> total.txt; git add .; git commit -qm "step $n"; done
git push -q origin main
git checkout -qb side HEAD~20; for n in $(seq 1 14); do echo "side $n" >> total.txt; echo "s$n" > "part$((n % 9)).txt"; git commit -qam "side $n"; done
for n in $(seq 1 40); do git branch -q "topic-$n" "main~$n"; done; git branch frozen side
git checkout -q main; git commit -q --amend -m "step 90 again"
cp ../data/bad.patch .
for n in $(seq 1 25); do printf -- '--- a/part%s.txt\n+++ b/part%s.txt\n@@ -1 +1 @@\n-%s\n+new\n' $n $n $n; done >> bad.patch
cd ..; git clone -q --bare --no-hardlinks gitrepo broken.git; cd broken.git; mv objects/pack/*.pack .; rm -f objects/pack/*; for p in *.pack; do git unpack-objects -q < $p; rm $p; done
for f in $(find objects -type f | sort | awk 'NR % 37 == 5'); do rm -f "$f"; done
for f in $(find objects -type f | sort | awk 'NR % 83 == 9'); do chmod +w "$f"; echo broken > "$f"; done
cd ..; django-admin startproject dj; cd dj; python manage.py startapp stock
sed -i "s/INSTALLED_APPS = \[/INSTALLED_APPS = ['stock',/; s/^SECRET_KEY = .*/SECRET_KEY = 'not-a-secret'/" dj/settings.py
cat > stock/models.py <<'PY'
from django.db import models
class Item(models.Model):
    name = models.CharField(max_length=20)
PY
python manage.py makemigrations stock
cat > stock/migrations/0002_unique_name.py <<'PY'
from django.db import migrations, models
def fill(apps, editor):
    for name in ("tea", "milk", "tea"):
        apps.get_model("stock", "Item").objects.create(name=name)
class Migration(migrations.Migration):
    dependencies = [("stock", "0001_initial")]
    operations = [migrations.RunPython(fill), migrations.AlterField("item", "name", models.CharField(max_length=20, unique=True))]
PY
cat > stock/tests.py <<'PY'
from django.test import SimpleTestCase
from django.urls import reverse
class PriceCase(SimpleTestCase):
    def test_view(self):
        reverse("no such view")
def case(number):
    return lambda self: self.assertEqual(number * 3, number if number % 12 == 7 else number * 3)
for number in range(60):
    setattr(PriceCase, f"test_price_{number}", case(number))
PY
"""
"""Makes databases, archives, Git repositories and a Django project."""

MADE = ("gitrepo", "broken.git", "dj")
