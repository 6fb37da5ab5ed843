"""Where the SDK finds credentials when a program names none."""

import os

import boto3

from world import ADMINISTRATOR, FOLDER, KEYS, TOKEN_FILE, environment, equal, moved, role, session

NO_KEYS = {"AWS_ACCESS_KEY_ID": None, "AWS_SECRET_ACCESS_KEY": None}
TOKEN_VARIABLES = {
    **NO_KEYS,
    "AWS_ROLE_ARN": role("pod"),
    "AWS_ROLE_SESSION_NAME": "chain",
    "AWS_WEB_IDENTITY_TOKEN_FILE": TOKEN_FILE,
}


def caller():
    """Whoever a session turns out to be that found its credentials by itself."""
    return boto3.Session().client("sts").get_caller_identity()["Arn"]


def environment_keys():
    equal(caller(), ADMINISTRATOR)


def token_file():
    with environment(**TOKEN_VARIABLES):
        equal(caller(), session("pod", "chain"))


def source_profile():
    path = os.path.join(FOLDER, "profiles")
    with open(path, "w", encoding="ascii") as file:
        file.write(
            "[profile base]\n"
            f"aws_access_key_id = {KEYS['aws_access_key_id']}\n"
            f"aws_secret_access_key = {KEYS['aws_secret_access_key']}\n"
            "[profile operator]\n"
            f"role_arn = {role('operator')}\n"
            "role_session_name = profile\n"
            "source_profile = base\n"
        )
    with environment(**NO_KEYS, AWS_CONFIG_FILE=path, AWS_PROFILE="operator"):
        equal(caller(), session("operator", "profile"))


def container_endpoint():
    variables = {
        **NO_KEYS,
        "AWS_CONTAINER_CREDENTIALS_FULL_URI": os.environ["CONFORMANCE_AGENT"],
        "AWS_CONTAINER_AUTHORIZATION_TOKEN_FILE": os.environ["CONFORMANCE_AGENT_TOKEN_FILE"],
    }
    with environment(**variables):
        arn = caller()
    if not arn.startswith(session("agent", "eks-cluster-a-app-7d9f-")):
        raise AssertionError(f"the caller is {arn}")


def renewal():
    # The exchange is not signed, so the server may be far behind: the session
    # that it gives ends in three minutes, which botocore takes for its end.
    with environment(**TOKEN_VARIABLES):
        own = boto3.Session()
        with moved(-57):
            old = own.get_credentials().get_frozen_credentials()
        equal(own.client("sts").get_caller_identity()["Arn"], session("pod", "chain"))
        if own.get_credentials().get_frozen_credentials().access_key == old.access_key:
            raise AssertionError("the old session is still in use")


CHECKS = {
    "the default chain takes keys from the environment": environment_keys,
    "the default chain takes a token file": token_file,
    "the default chain follows source_profile": source_profile,
    "the default chain asks the container endpoint": container_endpoint,
    "credentials that end are renewed": renewal,
}
