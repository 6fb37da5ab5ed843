"""What the checks know of the world that the Go test has made, and how they
change it: the server's clock."""

import contextlib
import json
import os
import ssl
import urllib.request

import boto3
from botocore.config import Config
from botocore.exceptions import ClientError

ENDPOINT = os.environ["AWS_ENDPOINT_URL"]
REGION = os.environ["AWS_REGION"]
ACCOUNT = os.environ["CONFORMANCE_ACCOUNT"]
FOLDER = os.environ["CONFORMANCE_FOLDER"]
TOKEN_FILE = os.environ["CONFORMANCE_TOKEN_FILE"]
with open(TOKEN_FILE, encoding="ascii") as file:
    TOKEN = file.read()
KEYS = {
    "aws_access_key_id": os.environ["AWS_ACCESS_KEY_ID"],
    "aws_secret_access_key": os.environ["AWS_SECRET_ACCESS_KEY"],
}
ADMINISTRATOR = f"arn:aws:iam::{ACCOUNT}:user/administrator"
IS_TLS = ENDPOINT.startswith("https:")
ONCE = Config(retries={"total_max_attempts": 1})


def role(name):
    return f"arn:aws:iam::{ACCOUNT}:role/{name}"


def session(role_name, name):
    return f"arn:aws:sts::{ACCOUNT}:assumed-role/{role_name}/{name}"


def client(service, **keys):
    """A client with keys, the administrator's unless others are given."""
    return boto3.client(service, region_name=REGION, endpoint_url=ENDPOINT, config=ONCE, **(keys or KEYS))


def ask(url, method="GET", body=None, headers=None):
    """The status and text of an answer to a request without the SDK."""
    request = urllib.request.Request(url, method=method, data=body, headers=headers or {})
    context = ssl.create_default_context(cafile=os.environ["AWS_CA_BUNDLE"])
    try:
        with urllib.request.urlopen(request, context=context if IS_TLS else None) as answer:
            return answer.status, answer.read().decode()
    except urllib.error.HTTPError as error:
        return error.code, error.read().decode()


@contextlib.contextmanager
def moved(minutes):
    """The server's clock is some minutes off."""
    advance(minutes)
    try:
        yield
    finally:
        advance(-minutes)


def advance(minutes):
    status, text = ask(f"{ENDPOINT}/_awslocal/clock", "POST", json.dumps({"advance": f"{minutes}m"}).encode())
    equal(status, 200, text)


@contextlib.contextmanager
def environment(**variables):
    """Other variables; None takes one away."""
    before = {name: os.environ.get(name) for name in variables}
    set_environment(variables)
    try:
        yield
    finally:
        set_environment(before)


def set_environment(variables):
    for name, value in variables.items():
        if value is None:
            os.environ.pop(name, None)
        else:
            os.environ[name] = value


def equal(got, want, about=""):
    if got != want:
        raise AssertionError(f"got {got!r}, want {want!r} {about}")


@contextlib.contextmanager
def refused(code, text=""):
    """The calls inside fail with an error of AWS."""
    try:
        yield
    except ClientError as error:
        got = error.response["Error"]
        if got["Code"] != code or text not in got["Message"]:
            raise AssertionError(f"refused with {got}, want {code}: {text}") from error
        return
    raise AssertionError(f"not refused, want {code}")


def tampered(text):
    """A text with one character in its middle replaced."""
    middle = len(text) // 2
    return text[:middle] + ("B" if text[middle] == "A" else "A") + text[middle + 1 :]
