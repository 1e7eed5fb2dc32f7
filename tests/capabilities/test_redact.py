"""Redaction: credentials go, ordinary text stays, byte for byte."""

from __future__ import annotations

import base64
import hashlib
import html
import json
import random
import re
import re._parser as sre_parse
import string
import time
import unicodedata
import uuid
from pathlib import Path
from urllib.parse import quote, quote_plus

import pytest
from hypothesis import given
from hypothesis import strategies as st

import oracle_sanitize
from ethos_registry import ToolContext, ToolOk, ToolRegistry, default_reducers, tool
from ethos_registry._core import KnownSecrets, finish, redact
from ethos_registry.capabilities import EnvironmentSecrets, ToolCapabilities, standard_backends
from ethos_registry.capabilities._secrets import IssuedSecrets
from ethos_registry.reduction._redaction import redacted_start
from ethos_registry.types import Document, Link

CORPUS = Path(__file__).parents[1] / "corpus"
SHAPES = Path(__file__).parents[2] / "rust/core/src/redact/shapes.tsv"


def token(prefix: str, alphabet: str, length: int, seed: int = 1) -> str:
    """A credential of the right form that nobody ever had."""
    chars = random.Random(f"{prefix}{length}{seed}")
    body = "".join(chars.choice(alphabet) for _ in range(length - 1))
    return prefix + body + ("7" if "7" in alphabet else "A")


ALNUM = string.ascii_letters + string.digits
URL = ALNUM + "_-"
HEX = string.digits + "abcdef"
UPPER = string.ascii_uppercase + "234567"

CREDENTIALS: dict[str, tuple[str, str]] = {
    "aws access key": (token("AKIA", UPPER, 16), "aws access key"),
    "aws session key": (token("ASIA", UPPER, 16), "aws access key"),
    "github personal": (token("ghp_", ALNUM, 36), "github token"),
    "github oauth": (token("gho_", ALNUM, 36), "github token"),
    "github user": (token("ghu_", ALNUM, 36), "github token"),
    "github server": (token("ghs_", ALNUM, 36), "github token"),
    "github refresh": (token("ghr_", ALNUM, 76), "github token"),
    "github fine-grained": (token("github_pat_", ALNUM + "_", 82), "github token"),
    "gitlab personal": (token("glpat-", URL, 20), "gitlab token"),
    "gitlab personal, routable": (token("glpat-", URL, 27) + ".01.0a1b2c3d4", "gitlab token"),
    "gitlab runner": (token("glrt-", URL, 20), "gitlab token"),
    "gitlab deploy": (token("gldt-", URL, 20), "gitlab token"),
    "slack bot": (token("xoxb-123456789012-", ALNUM, 24), "slack token"),
    "slack user": (token("xoxp-123456789012-", ALNUM, 24), "slack token"),
    "slack app": (token("xapp-1-A0123-", HEX, 64), "slack token"),
    "anthropic": (token("sk-ant-api03-", URL, 93), "anthropic key"),
    "anthropic admin": (token("sk-ant-admin01-", URL, 93), "anthropic key"),
    "openai": (token("sk-", ALNUM, 48), "api key"),
    "openai project": (token("sk-proj-", URL, 124), "openai key"),
    "openai service account": (token("sk-svcacct-", URL, 124), "openai key"),
    "openrouter": (token("sk-or-v1-", HEX, 64), "openrouter key"),
    "stripe live": (token("sk_live_", ALNUM, 24), "stripe key"),
    "stripe test": (token("sk_test_", ALNUM, 24), "stripe key"),
    "stripe restricted": (token("rk_live_", ALNUM, 24), "stripe key"),
    "stripe webhook": (token("whsec_", ALNUM, 32), "stripe secret"),
    "google api": (token("AIza", URL, 35), "google key"),
    "google oauth": (token("ya29.", URL, 60), "google token"),
    "google client secret": (token("GOCSPX-", URL, 28), "google secret"),
    "npm": (token("npm_", ALNUM, 36), "npm token"),
    "pypi": (token("pypi-AgEIcHlwaS5vcmc", URL, 120), "pypi token"),
    "hugging face": (token("hf_", ALNUM, 34), "hugging face token"),
    "sendgrid": (token("SG.", URL, 22) + "." + token("", URL, 43), "sendgrid key"),
    "digitalocean": (token("dop_v1_", HEX, 64), "digitalocean token"),
    "digitalocean oauth": (token("doo_v1_", HEX, 64), "digitalocean token"),
    "databricks": (token("dapi", HEX, 32), "databricks token"),
    "shopify": (token("shpat_", HEX, 32), "shopify token"),
    "shopify secret": (token("shpss_", HEX, 32), "shopify token"),
    "linear": (token("lin_api_", ALNUM, 40), "linear key"),
    "notion": (token("ntn_", ALNUM, 46), "notion token"),
    "vault": (token("hvs.", URL, 90), "vault token"),
    "groq": (token("gsk_", ALNUM, 52), "groq key"),
    "xai": (token("xai-", ALNUM, 80), "xai key"),
    "grafana": (token("glsa_", ALNUM, 32) + "_0a1b2c3d", "grafana token"),
    "docker": (token("dckr_pat_", URL, 27), "docker token"),
    "tailscale": (token("tskey-auth-", ALNUM, 30), "tailscale key"),
    "postman": (token("PMAK-", HEX, 24) + "-" + token("", HEX, 34), "postman key"),
    "rubygems": (token("rubygems_", HEX, 48), "rubygems key"),
    "age": (token("AGE-SECRET-KEY-1", UPPER, 58), "age key"),
    "gitlab trigger": (token("glptt-", HEX, 40), "gitlab token"),
    "gitlab job": (token("glcbt-64_", URL, 20), "gitlab token"),
    "gitlab scim": (token("glsoat-", URL, 20), "gitlab token"),
    "slack legacy": (token("xoxs-123456789012-", ALNUM, 24), "slack token"),
    "slack refresh": (token("xoxr-123456789012-", ALNUM, 24), "slack token"),
    "slack client": (token("xoxc-123456789012-", ALNUM, 24), "slack token"),
    "slack rotated": (token("xoxe.xoxp-1-", ALNUM, 160), "slack token"),
    "stripe organisation": (token("sk_org_live_", ALNUM, 40), "stripe key"),
    "elevenlabs": (token("sk_", HEX, 48), "api key"),
    "test pypi": (token("pypi-AgENdGVzdC5weXBpLm9yZw", URL, 120), "pypi token"),
    "shopify custom app": (token("shpca_", HEX, 32), "shopify token"),
    "shopify private app": (token("shppa_", HEX, 32), "shopify token"),
    "linear oauth": (token("lin_oauth_", HEX, 64), "linear key"),
    "docker organisation": (token("dckr_oat_", URL, 27), "docker token"),
    "telegram": ("123456789:" + token("AA", URL, 33), "telegram token"),
    "json web token": (
        ".".join(
            base64.urlsafe_b64encode(json.dumps(part).encode()).decode().rstrip("=")
            for part in ({"alg": "HS256", "typ": "JWT"}, {"sub": "1234567890", "name": "A"})
        )
        + "."
        + token("", URL, 43),
        "json web token",
    ),
}

WITHIN: dict[str, tuple[str, str]] = {
    "password of a database": (
        "postgres://app:{}@db.example.com:5432/app",
        "postgres://app:[redacted: password]@db.example.com:5432/app",
    ),
    "password of an https url": (
        "https://user:{}@example.com/x",
        "https://user:[redacted: password]@example.com/x",
    ),
    "password of a broker": ("amqp://guest:{}@mq", "amqp://guest:[redacted: password]@mq"),
    "bearer header": (
        "Authorization: Bearer {}\n",
        "Authorization: Bearer [redacted: bearer token]\n",
    ),
    "lower-case bearer": (
        "authorization: bearer {}",
        "authorization: bearer [redacted: bearer token]",
    ),
    "azure storage": (
        "AccountName=a;AccountKey={}aaaaaaaaaaaaaaaaaaaaaaaaaaaaaa==;x",
        "AccountName=a;AccountKey=[redacted: azure key];x",
    ),
    "aws credentials file": (
        "aws_secret_access_key = {}abcdefghijklmnop\n",
        "aws_secret_access_key = [redacted: aws secret]\n",
    ),
    "environment of the aws cli": (
        "export AWS_SECRET_ACCESS_KEY={}abcdefghijklmnop\n",
        "export AWS_SECRET_ACCESS_KEY=[redacted: aws secret]\n",
    ),
    "session credentials of aws": (
        '"SecretAccessKey": "{}abcdefghijklmnop",',
        '"SecretAccessKey": "[redacted: aws secret]",',
    ),
    "session credentials of aws, XML": (
        "<SecretAccessKey>{}abcdefghijklmnop</SecretAccessKey>",
        "<SecretAccessKey>[redacted: aws secret]</SecretAccessKey>",
    ),
    "basic header": (
        "> Authorization: Basic {}==\r\n",
        "> Authorization: Basic [redacted: basic credentials]\r\n",
    ),
    "slack webhook": (
        "https://hooks.slack.com/services/T0000/B0000/{}aaaaaaaaaaaa",
        "https://hooks.slack.com/services/[redacted: slack webhook]",
    ),
    "discord webhook": (
        "https://discord.com/api/webhooks/123456789012345678/{}aaaaaaaaaaaaaaa",
        "https://discord.com/api/webhooks/[redacted: discord webhook]",
    ),
    "private key": (
        "-----BEGIN RSA PRIVATE KEY-----\n{}\n-----END RSA PRIVATE KEY-----",
        "[redacted: private key]",
    ),
    "private key that was cut": (
        "-----BEGIN EC PRIVATE KEY-----\n{}\nMHcCAQEE",
        "[redacted: private key]",
    ),
    "private key of PGP": (
        "-----BEGIN PGP PRIVATE KEY BLOCK-----\n\n{}\n-----END PGP PRIVATE KEY BLOCK-----",
        "[redacted: private key]",
    ),
}
SECRET = "abcDEF0123456789ghiJKL45"


@pytest.mark.parametrize("name", CREDENTIALS)
@pytest.mark.parametrize(
    ("before", "after"),
    [("", ""), ("KEY=", "\n"), ('{"key": "', '"}'), ("key: ", " # é"), ("(", ")"), ("'", "',")],
)
def test_a_credential_is_replaced_by_what_it_is(name, before, after):
    credential, kind = CREDENTIALS[name]
    assert redact(before + credential + after) == f"{before}[redacted: {kind}]{after}"


@pytest.mark.parametrize("name", WITHIN)
def test_only_the_secret_part_of_a_longer_form_is_replaced(name):
    text, expected = WITHIN[name]
    assert redact(text.format(SECRET)) == expected


def test_there_are_sixty_shapes():
    assert len(CREDENTIALS) + len(WITHIN) >= 60


def test_a_full_stop_behind_a_token_stays():
    credential, kind = CREDENTIALS["gitlab personal"]
    assert redact(f"Use {credential}. Then go on.") == f"Use [redacted: {kind}]. Then go on."


def test_two_credentials_on_one_line_both_go():
    one, two = CREDENTIALS["github personal"][0], CREDENTIALS["npm"][0]
    assert redact(f"{one}:{two}") == "[redacted: github token]:[redacted: npm token]"


def ordinary() -> list[str]:
    """Strings that look random and are no secrets."""
    chars = random.Random(7)
    found = [hashlib.new(name, b"x").hexdigest() for name in ("md5", "sha1", "sha256", "sha512")]
    found += [str(uuid.UUID(int=chars.getrandbits(128))) for _ in range(40)]
    found += [f"{chars.getrandbits(160):040x}" for _ in range(40)]
    found += [base64.b64encode(chars.randbytes(300)).decode() for _ in range(40)]
    found += [f"sha512-{base64.b64encode(chars.randbytes(64)).decode()}" for _ in range(30)]
    found += [
        "data:image/png;base64,iVBORw0KGgo" + base64.b64encode(chars.randbytes(900)).decode()
        for _ in range(10)
    ]
    found += [f"https://example.com/{chars.getrandbits(64):x}?q={n}" for n in range(20)]
    found += [
        "task-abcdefghijklmnopqrstuvwxyz0123456789",
        "sk-learn and sk-image are packages",
        "npm_config_registry npm_package_json npm_lifecycle_event",
        "hf_hub_download(repo_id) and hf_transfer",
        "the class .xai- and the id #dapi",
        "ghp_ is the prefix of GitHub's tokens, AKIA that of AWS",
        "http://localhost:8080/a@b",
        "git@github.com:owner/repo.git and ssh://git@github.com/owner/repo",
        "https://user@example.com/path:with@signs",
        "scheme://host:443/x",
        "postgres://app:${DB_PASSWORD}@db:5432/app",
        "https://x-access-token:$GITHUB_TOKEN@github.com/a/b",
        "postgresql://{user}:{password}@{host}/db and mysql://u:{settings.password}@h/x",
        "mysql://u:%(password)s@h/x",
        "https://api.example/api/webhooks/github/repositories/pull-requests/events/handlers",
        "wearer 0123456789abcdef0123 and Authorization: Basic auth",
        "Bearer of good news, bearer tokens are explained elsewhere",
        "-----BEGIN CERTIFICATE-----\nMIIDdzCCAl+gAwIBAgIE\n-----END CERTIFICATE-----",
        "-----BEGIN PUBLIC KEY-----\nMIIBIjANBgkq\n-----END PUBLIC KEY-----",
        "function(e,t){return e.eyJ=t.eyJ,e.prototype.eyJ.call(this)}",
        "//# sourceMappingURL=data:application/json;base64,eyJ2ZXJzaW9uIjozLCJmaWxlIjoiYSJ9",
        "12:AA:BB:CC:DD:EE and 10:AAAA::1",
        "integrity sha1-deadbeef",
        "SG.example and hvs.short",
        "AIza is a prefix; AIzaSy is too",
        "rk_test_ and sk_live_ without a value",
    ]
    return found


def test_two_hundred_ordinary_strings_stay():
    strings = ordinary()
    assert len(strings) >= 200
    for text in strings:
        assert redact(text) is text, text


def test_recorded_command_outputs_stay():
    changed = []
    for path in sorted(CORPUS.rglob("*.txt")):
        text = path.read_text(errors="replace")
        lines = zip(text.splitlines(), redact(text).splitlines(), strict=True)
        changed += [(path.name, before) for before, after in lines if before != after]
    # A URL with a password, and the secret of a debugger's page.
    assert sorted(name for name, _ in changed) == ["flask_debug_page.txt", "marshmallow_rA.txt"]
    assert "user.name:pass.word@" in changed[0][1]


@given(st.text())
def test_a_text_without_a_credential_is_the_same_object(text):
    assert redact(text) is text


BESIDE = st.text(st.characters(exclude_characters="\b\r\x1b"))
"""Nothing that moves the cursor: what is written over a credential is a part of it."""


@given(BESIDE, BESIDE, st.sampled_from(sorted(CREDENTIALS)))
def test_what_is_around_a_credential_never_changes(before, after, name):
    credential, kind = CREDENTIALS[name]
    before, after = before + " ", " " + after
    assert redact(before + credential + after) == f"{before}[redacted: {kind}]{after}".encode(
        "utf-8", "surrogatepass"
    ).decode("utf-8", "replace").replace("\ufffd\ufffd\ufffd", "\ufffd")


@given(st.text())
def test_redacting_twice_is_redacting_once(text):
    for credential, _ in CREDENTIALS.values():
        once = redact(f"{text}\n{credential}")
        assert redact(once) == once
        break


@pytest.mark.parametrize(
    "form",
    [
        lambda value: value,
        lambda value: quote(value, safe=""),
        quote_plus,
        lambda value: base64.b64encode(value.encode()).decode(),
        lambda value: base64.b64encode(b"x" + value.encode() + b"y").decode(),
        lambda value: base64.b64encode(b"xy" + value.encode() + b"z").decode(),
        lambda value: base64.urlsafe_b64encode(b"user:" + value.encode()).decode(),
        lambda value: value.encode().hex(),
        lambda value: json.dumps({"v": value}),
        lambda value: json.dumps(value).replace("\\u00e4", "\\u00E4"),
        html.escape,
        lambda value: html.escape(value, quote=False),
        lambda value: repr(value.encode()),
        ascii,
        lambda value: unicodedata.normalize("NFD", value),
    ],
)
def test_a_value_that_was_issued_is_found_in_every_form(form):
    value = 'p/ss"w?rd +with\\odd&chärs'
    issued_secrets = IssuedSecrets()
    issued_secrets.add(value)
    shown = issued_secrets.redact(f"before {form(value)} after")
    assert "[redacted: secret]" in shown
    assert form(value) not in shown
    assert shown.startswith("before ")
    assert shown.endswith(" after")


def test_of_values_that_overlap_nothing_is_shown():
    known = KnownSecrets(["correct-horse", "horse-battery", "battery-staple"])
    assert known.redact("a correct-horse-battery-staple b") == "a [redacted: secret] b"
    assert known.redact("a" + "horse-battery" * 2) == "a[redacted: secret][redacted: secret]"


def test_issued_values_show_nowhere():
    issued_secrets = IssuedSecrets()
    issued_secrets.add("correct-horse-battery")
    for shown in (repr(issued_secrets), repr(KnownSecrets(["correct-horse-battery"]))):
        assert "horse" not in shown
    with pytest.raises(TypeError):
        __import__("pickle").dumps(issued_secrets)
    with pytest.raises(TypeError):
        __import__("pickle").dumps(KnownSecrets(["correct-horse-battery"]))


def test_short_values_are_not_searched_for():
    issued_secrets = IssuedSecrets()
    issued_secrets.add("abc")
    assert issued_secrets.redact("abc abc") == "abc abc"


def test_a_credential_is_found_at_every_border_of_a_long_text_that_is_not_ascii():
    credential, kind = CREDENTIALS["json web token"]
    for place in range(65_536 - len(credential) - 2, 65_536 + 2, 29):
        text = "é" + " " * place + credential + " " * 70_000
        assert redact(text) == f"é{' ' * place}[redacted: {kind}]{' ' * 70_000}"


def test_a_long_text_that_is_not_ascii_and_has_no_credential_is_the_same_object():
    text = "é://x sk- " * 50_000
    assert redact(text) is text


GITHUB = token("ghp_", ALNUM, 36)


@pytest.mark.parametrize(
    "hidden",
    [
        lambda text: "\x1b[01;31m\x1b[K" + text + "\x1b[m\x1b[K",
        lambda text: "\x1b[0m".join(text),
        lambda text: text[:6] + "\x1b[1m" + text[6:],
        lambda text: text[0] + "".join(f"{char}\b{char}" for char in text[1:]),
        lambda text: "".join(f"_\b{char}" for char in text),
        lambda text: text[:9] + "x\b" + text[9:],
        lambda text: "\u200b".join(text),
        lambda text: text[:9] + "\u00ad\ufeff\u2060" + text[9:],
        lambda text: text[:9] + "\x00" + text[9:],
        lambda text: text[:9] + "\x9b1m" + text[9:],
        lambda text: text[:9] + "\x1b]8;;https://example.org\x1b\\" + text[9:],
    ],
)
@pytest.mark.parametrize("value", [GITHUB, "correct-horse-battery"])
def test_what_is_not_displayed_hides_no_credential(hidden, value):
    known = KnownSecrets(["correct-horse-battery"])
    for around in ("", "\n", "text é "):
        shown = redact(f"{around}{hidden(value)} end", known)
        assert value[9:-1] not in re.sub(r"\x1b\[[0-9;]*[mK]|.\x08|[^ -~]", "", shown), shown
        assert shown.count("[redacted: ") == 1
        assert shown.endswith((" end", "\x1b[m\x1b[K end"))


def body(lines: int, width: int = 64, seed: int = 1) -> list[str]:
    chars = random.Random(seed)
    return ["".join(chars.choice(ALNUM + "+/") for _ in range(width)) for _ in range(lines)]


KEY_LINES = [
    "-----BEGIN RSA PRIVATE KEY-----",
    *body(25),
    body(1, 40)[0] + "==",
    "-----END RSA PRIVATE KEY-----",
]


@pytest.mark.parametrize(
    "line",
    [
        "{}",
        "    {}",
        "+{}",
        "> {}",
        "key.pem:{}",
        "{}\r",
        '"{}\\n" +',
        "# {}",
    ],
)
def test_a_private_key_is_replaced_whatever_precedes_its_lines(line):
    text = "\n".join(["before", *(line.format(row) for row in KEY_LINES), "after"])
    shown = redact(text)
    assert "[redacted: private key]" in shown
    assert not any(row in shown for row in KEY_LINES[1:-1])
    assert shown.startswith("before\n")
    assert shown.endswith("\nafter")


@pytest.mark.parametrize("separator", ["\\n", "\\r\\n", " "])
def test_a_private_key_on_one_line_is_replaced(separator):
    text = f'{{"key": "{separator.join(KEY_LINES)}{separator}", "after": 1}}'
    shown = redact(text)
    assert not any(row in shown for row in KEY_LINES[1:-1])
    assert shown.endswith('"after": 1}')


def test_a_numbered_private_key_is_replaced():
    text = "\n".join(f"{number:6}\t{row}" for number, row in enumerate(KEY_LINES, 1))
    assert not any(row in redact(text) for row in KEY_LINES[1:-1])


def test_a_private_key_of_any_size_is_replaced_whole():
    rows = body(2_000)
    text = "\n".join([KEY_LINES[0], *rows, KEY_LINES[-1], "after"])
    assert redact(text) == "[redacted: private key]\nafter"


def test_a_header_alone_and_prose_stay():
    for text in [
        "-----BEGIN RSA PRIVATE KEY-----",
        "-----BEGIN RSA PRIVATE KEY-----\nis how such a file begins.\n" + "more text\n" * 3_000,
        "It starts with -----BEGIN PRIVATE KEY----- and ends with -----END PRIVATE KEY-----.",
        "-----BEGIN CERTIFICATE-----\n" + "\n".join(body(9)) + "\n-----END CERTIFICATE-----",
        "-----END RSA PRIVATE KEY-----",
    ]:
        assert redact(text) is text, text


def test_a_cut_private_key_is_replaced_to_the_cut():
    begun = "\n".join(KEY_LINES[:9])
    assert redact(f"a\n{begun}\nrest of the log is here") == (
        "a\n[redacted: private key]\nrest of the log is here"
    )
    ended = "\n".join(KEY_LINES[9:])
    assert redact(f"{ended}\nafter") == "[redacted: private key]\nafter"


def test_a_key_block_ends_at_the_end_that_matches():
    text = "\n".join([*KEY_LINES[:-1], "-----END CERTIFICATE-----", "visible text follows"])
    shown = redact(text)
    assert not any(row in shown for row in KEY_LINES[1:-1])
    assert "visible text follows" in shown


RANDOM = "q7Zr2Kp9Xw4Lm8Tn3Vb6"


@pytest.mark.parametrize(
    "text",
    [
        "DB_PASSWORD={}",
        "export API_TOKEN='{}'",
        '{{"password": "{}"}}',
        '{{\\"client_secret\\": \\"{}\\"}}',
        "//registry.example.org/:_authToken={}",
        "GET /items?access_token={}&page=2",
        "client-key-data: {}",
        "api_key: {}",
        'apiKey = "{}";',
        "machine example.org login ada password {}",
        "curl -u ada:{} https://example.org",
        "curl --user 'ada:{}' https://example.org",
        "deploy --token {} --to x",
        "<password>{}</password>",
    ],
)
def test_a_random_value_of_a_secret_name_is_replaced(text):
    shown = redact(text.format(RANDOM))
    assert RANDOM not in shown
    assert shown.replace("[redacted: secret]", "{}").replace(
        "[redacted: password]", "{}"
    ) == text.format("{}")


@pytest.mark.parametrize(
    "text",
    [
        "password = getpass.getpass()",
        "password: str = ''",
        'token = "utf-8"',
        "max_tokens=4096, tokens: 12345678901234",
        '{"next_page_token": "CAUQAA9x8y7z6w5v4"}',
        "private_key: Ed25519PrivateKey",
        "secret_name: production-db-credentials-1",
        "token_type=Bearer2 password=$PASSWORD_2_ENV",
        "password == 'a1b2c3d4e5f6'",
        "wrong password (attempt 3)",
        "API_KEY=your-api-key-1a2b3c4d",
        "tokenizer: Qwen2TokenizerFast2024",
        "--token TOKEN --password-file /run/secrets/a1b2c3d4",
        "<token>utf-8</token> token>q7Zr2Kp9Xw4Lm8Tn3Vb6",
    ],
)
def test_other_assignments_stay(text):
    assert redact(text) is text


def test_every_row_of_the_table_of_shapes_is_reached():
    rows = [
        line.split("\t")
        for line in SHAPES.read_text().splitlines()
        if line and not line.startswith("#")
    ]
    assert len(rows) > 200
    for prefix, name, pattern in rows:
        found = f"{prefix}{example(pattern)}"
        assert redact(f"a {found} b") == f"a [redacted: {name}] b", (prefix, found)
        assert redact(f"x{found}y") == f"x{found}y"


def example(pattern: str) -> str:
    """A string that matches a pattern of the table, with digits in it."""
    return "".join(_examples(sre_parse.parse(pattern)))


def _examples(parsed):
    for kind, value in parsed:
        match str(kind):
            case "LITERAL":
                yield chr(value)
            case "IN":
                spans = [item if isinstance(item, tuple) else (item, item) for _, item in value]
                has_digits = any(low <= ord("7") <= high for low, high in spans)
                yield "7" if has_digits else chr(spans[0][0])
            case "MAX_REPEAT":
                least, _, repeated = value
                yield from (char for _ in range(least) for char in _examples(repeated))
                if least:
                    continue
            case "SUBPATTERN":
                yield from _examples(value[-1])
            case "BRANCH":
                yield from _examples(value[1][0])
            case other:
                raise AssertionError(other)


@pytest.mark.parametrize("width", [60, 64, 76])
@pytest.mark.parametrize("end", ["\n", "\r\n"])
def test_a_value_in_wrapped_base64_is_found(width, end):
    value = "correct-horse-battery-staple-9"
    issued_secrets = IssuedSecrets()
    issued_secrets.add(value)
    for before in range(0, 70, 7):
        encoded = base64.b64encode(b"x" * before + value.encode() + b"y" * 90).decode()
        rows = [encoded[at : at + width] for at in range(0, len(encoded), width)]
        shown = redact(end.join(rows), issued_secrets.known)
        assert "[redacted: secret]" in shown, before


def test_the_parts_of_a_value_are_secrets_too():
    issued_secrets = IssuedSecrets()
    issued_secrets.add("\ncorrect-horse-battery\n")
    issued_secrets.add(json.dumps({"user": "ada", "keys": ["wrong-donkey-charger"]}))
    issued_secrets.add("first-line-of-it-1\nsecond-line-of-it\n")
    for part in (
        "correct-horse-battery",
        "wrong-donkey-charger",
        "first-line-of-it-1",
        "second-line-of-it",
    ):
        assert redact(f"a {part} b", issued_secrets.known) == "a [redacted: secret] b"


def shown_by(*tools, name, **options):
    registry = ToolRegistry(tools, **options)
    return registry.execute_parallel_sync(
        [{"id": "1", "name": name, "args": {}}], ToolContext(result_budget_chars=1_000)
    )[0]


@pytest.mark.parametrize("filler", ["x", "é", "🙂", "line of output\n"])
@pytest.mark.parametrize("place", [0, 500, 985, 5_000])
def test_a_text_that_is_only_cut_shows_no_credential_and_states_its_length(filler, place):
    text = (filler * 1_000_000)[:place] + f" {GITHUB} " + filler * 300_000

    @tool
    def read() -> str:
        """Read."""
        return text

    result = shown_by(read, name="read")
    assert GITHUB[:12] not in result.result.text
    assert result.result.text.endswith(f"[truncated — {len(text)} chars total]")
    assert result.truncated_from == len(text)
    body, _, _ = result.result.text.rpartition("\n[truncated")
    assert redact(text[:30_000]).startswith(body)


def test_many_credentials_before_the_cut_leave_a_full_window():
    text = f"{GITHUB} " * 20_000 + "x" * 300_000

    @tool
    def read() -> str:
        """Read."""
        return text

    body = shown_by(read, name="read").result.text.rpartition("\n[truncated")[0]
    assert body == redact(text)[: len(body)]
    assert len(body) == 1_000


@pytest.mark.parametrize("block", ["name", "title", "document"])
def test_content_blocks_have_no_credentials(block):
    blocks = {
        "name": Document(b"%PDF-1.7", name=f"{GITHUB}.pdf"),
        "title": Link(f"https://ada:correct-horse@example.org/{GITHUB}", title=GITHUB),
        "document": Document(f"key {GITHUB}".encode(), media_type="text/plain"),
    }

    @tool
    def read() -> ToolOk:
        """Read."""
        return ToolOk("done", content=[blocks[block]])

    result = shown_by(read, name="read")
    wire = json.dumps([shown.to_wire() for shown in result.result.content])
    data = [base64.b64decode(item.get("data", "")) for item in json.loads(wire)]
    assert GITHUB not in wire
    assert not any(GITHUB.encode() in each for each in data)
    assert "redacted" in wire or any(b"redacted" in each for each in data)


def test_a_credential_that_a_reducer_puts_together_is_replaced():
    text = "progress 10%\r" + GITHUB[:10] + "zz\x1b[2D" + GITHUB[10:] + "\n"

    @tool
    def terminal() -> str:
        """Run."""
        return text

    result = shown_by(terminal, name="terminal", reducer_registry=default_reducers())
    assert GITHUB not in result.result.text


def test_a_cut_within_an_escape_sequence_leaves_no_open_tag():
    text = "</untru\x1b]0;t\x07<"
    for cap in range(1, len(text)):
        finished = finish(text, cap, fence=("t", "s"))
        assert finished == oracle_sanitize.finish(text, cap, "t", "s"), cap


def test_what_is_cut_is_searched_where_it_is_kept_and_a_margin_behind_it():
    start = redacted_start("é" * 1_000_000, 10_000, redact)
    assert start is not None
    assert 10_000 < len(start) < 20_000


@pytest.mark.parametrize("at", ["start", "end", "both"])
@pytest.mark.parametrize(
    "note", ["[9 of 12 lines left out]", "[9 of 12 lines left \x1b[31mout]", "[a list]"]
)
async def test_the_marker_states_the_same_length_with_and_without_redaction(note, at):
    words = ["a line of words, é"] * 20_000
    lines = [note] * (at != "end") + words + [note, note] * (at != "start")

    @tool(max_result_chars=1_000)
    def prints() -> str:
        """Print."""
        return "\n".join(lines)

    shown = set()
    for redacts in (True, False):
        registry = ToolRegistry([prints], redact=redacts)
        [result] = await registry.execute_parallel([{"id": "1", "name": "prints", "args": {}}])
        shown.add(result.text)
    assert len(shown) == 1


TEXTS = {"ascii": "line of words\n", "emoji": "\U0001f41f, née\n"}


@pytest.mark.slow
@pytest.mark.parametrize("has_secret", [False, True], ids=["no secret", "a secret"])
@pytest.mark.parametrize("alphabet", TEXTS)
async def test_cutting_costs_at_most_three_times_as_much_as_without(alphabet, has_secret):
    """By the tenth of the rounds that took least in all: both ran when little else did."""
    words = TEXTS[alphabet]

    @tool(capabilities=ToolCapabilities(secrets=["search/key"]), max_result_chars=10_000)
    async def prints(context: ToolContext, number: int) -> str:
        """Print 1 MiB."""
        if has_secret:
            await context.secrets_resolver.get("search/key")
        return contents.pop()

    contents: list[str] = []

    async def seconds(registry: ToolRegistry) -> float:
        calls = [{"id": str(n), "name": "prints", "args": {"number": n}} for n in range(8)]
        contents[:] = [words * ((1 << 20) // len(words.encode())) + str(n) for n in range(8)]
        start = time.process_time()
        results = await registry.execute_parallel(calls)
        taken = time.process_time() - start
        assert all(len(result.text) < 10_100 for result in results)
        return taken

    backends = standard_backends(secrets=EnvironmentSecrets(environ={"SEARCH_KEY": "a secret key"}))
    redacting = ToolRegistry([prints], capability_backends=backends)
    keeping = ToolRegistry([prints], capability_backends=backends, redact=False)
    rounds: list[tuple[float, float]] = []
    for done in range(1, 201):
        rounds.append((await seconds(redacting), await seconds(keeping)))
        if done % 50 == 0:
            ours, theirs = map(sum, zip(*sorted(rounds, key=sum)[: done // 10], strict=True))
            if ours <= 3 * theirs:
                return
    pytest.fail(f"takes {ours / theirs:.1f} times as long")
