"""Redaction: credentials go, ordinary text stays, byte for byte."""

from __future__ import annotations

import base64
import hashlib
import json
import random
import string
import uuid
from pathlib import Path
from urllib.parse import quote, quote_plus

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ethos_registry._core import KnownSecrets, redact
from ethos_registry.capabilities.secrets import HandedOutSecrets

CORPUS = Path(__file__).parent / "corpus"


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
    # The one line with a URL that has a password in it.
    assert [name for name, _ in changed] == ["marshmallow_rA.txt"]
    assert "user.name:pass.word@" in changed[0][1]


@given(st.text())
def test_a_text_without_a_credential_is_the_same_object(text):
    assert redact(text) is text


@given(st.text(), st.text(), st.sampled_from(sorted(CREDENTIALS)))
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
    ],
)
def test_a_value_that_was_handed_out_is_found_in_every_form(form):
    value = 'p/ss"w?rd +with\\odd&chars'
    handed_out = HandedOutSecrets()
    handed_out.add(value)
    shown = handed_out.redact(f"before {form(value)} after")
    assert "[redacted: secret]" in shown
    assert form(value) not in shown
    assert shown.startswith("before ")
    assert shown.endswith(" after")


def test_handed_out_values_show_nowhere():
    handed_out = HandedOutSecrets()
    handed_out.add("correct-horse-battery")
    for shown in (repr(handed_out), repr(KnownSecrets(["correct-horse-battery"]))):
        assert "horse" not in shown
    with pytest.raises(TypeError):
        __import__("pickle").dumps(handed_out)
    with pytest.raises(TypeError):
        __import__("pickle").dumps(KnownSecrets(["correct-horse-battery"]))


def test_short_values_are_not_searched_for():
    handed_out = HandedOutSecrets()
    handed_out.add("abc")
    assert handed_out.redact("abc abc") == "abc abc"


def test_a_credential_is_found_at_every_border_of_a_long_text_that_is_not_ascii():
    credential, kind = CREDENTIALS["json web token"]
    for place in range(65_536 - len(credential) - 2, 65_536 + 2, 29):
        text = "é" + " " * place + credential + " " * 70_000
        assert redact(text) == f"é{' ' * place}[redacted: {kind}]{' ' * 70_000}"


def test_a_long_text_that_is_not_ascii_and_has_no_credential_is_the_same_object():
    text = "é://x sk- " * 50_000
    assert redact(text) is text
