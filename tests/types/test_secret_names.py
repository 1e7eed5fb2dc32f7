"""Names that announce a secret value."""

import pytest

from ethos_registry.reduction import is_secret_name


@pytest.mark.parametrize(
    "name",
    [
        "password",
        "db_password",
        "dbPassword",
        "DB_PASSWORD",
        "db_pwd",
        "passwd",
        "passphrase",
        "passcode",
        "pass",
        "user-pass",
        "secret",
        "client_secret",
        "clientSecret",
        "mysecret",
        "api_key",
        "apiKey",
        "apikey",
        "x-api-key",
        "X-Api-Key",
        "account_key",
        "private_key",
        "privateKey",
        "ssh_key",
        "signing-key",
        "encryptionKey",
        "access_key",
        "aws_secret_access_key",
        "token",
        "access_token",
        "accessToken",
        "refresh_token",
        "auth_token",
        "authtoken",
        "id_token",
        "basic_auth",
        "x-auth",
        "auth",
        "Authorization",
        "proxy-authorization",
        "bearer",
        "cookie",
        "Set-Cookie",
        "jwt",
        "otp",
        "pin",
        "credential",
        "credentials",
        "creds",
    ],
)
def test_a_name_of_a_secret_is_hidden(name):
    assert is_secret_name(name)


def test_words_may_be_joined_by_blanks():
    assert is_secret_name("api key")
    assert is_secret_name("Account Key")


@pytest.mark.parametrize(
    "name",
    [
        "max_tokens",
        "maxTokens",
        "token_count",
        "tokenCount",
        "tokens",
        "tokenizer",
        "tokenize",
        "compass",
        "bypass",
        "secretary",
        "passenger",
        "passed",
        "passing",
        "author",
        "authors",
        "authority",
        "key",
        "keys",
        "keyboard",
        "primary_key",
        "sort_key",
        "foreign_key",
        "pinned",
        "spinner",
        "opinion",
        "password_length",
        "token_type",
        "auth_method",
        "auth_url",
        "secret_name",
        "cookie_policy",
        "name",
        "path",
        "url",
        "query",
        "content",
        "total_tokens",
        "tokens_used",
        "prompt_tokens",
        "monkey",
        "hockey",
        "bearing",
    ],
)
def test_a_name_that_only_looks_like_one_is_shown(name):
    assert not is_secret_name(name)


def test_a_name_without_words_is_shown():
    assert not is_secret_name("")
    assert not is_secret_name("___")
