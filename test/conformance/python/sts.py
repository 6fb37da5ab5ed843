"""Who signs, and what STS gives and refuses."""

import base64
import datetime
import json

import boto3
from botocore.signers import RequestSigner

from world import (
    ACCOUNT, ADMINISTRATOR, ENDPOINT, KEYS, REGION, TOKEN, ask, client, equal, moved, refused, role, session, tampered,
)


def caller(**keys):
    """The ARN of whoever has these keys."""
    answer = client("sts", **keys).get_caller_identity()
    equal(answer["Account"], ACCOUNT)
    return answer["Arn"]


def keys_of(credentials):
    """STS's answer as arguments for a client."""
    return {
        "aws_access_key_id": credentials["AccessKeyId"],
        "aws_secret_access_key": credentials["SecretAccessKey"],
        "aws_session_token": credentials["SessionToken"],
    }


def assume():
    """The keys of a session of the role "operator"."""
    answer = client("sts").assume_role(RoleArn=role("operator"), RoleSessionName="python", DurationSeconds=900)
    equal(answer["AssumedRoleUser"]["Arn"], session("operator", "python"))
    equal(type(answer["Credentials"]["Expiration"]), datetime.datetime)
    return keys_of(answer["Credentials"])


def exchange(token):
    return client("sts").assume_role_with_web_identity(
        RoleArn=role("pod"), RoleSessionName="python", WebIdentityToken=token
    )


def caller_is_the_user():
    equal(caller(), ADMINISTRATOR)


def wrong_secret():
    with refused("SignatureDoesNotMatch"):
        caller(**{**KEYS, "aws_secret_access_key": "wrong"})


def unknown_key():
    with refused("InvalidClientTokenId"):
        caller(**{**KEYS, "aws_access_key_id": "AKIAAAAAAAAAAAAAAAAA"})


def role_is_assumed():
    equal(caller(**assume()), session("operator", "python"))


def web_identity():
    answer = exchange(TOKEN)
    equal(answer["SubjectFromWebIdentityToken"], "system:serviceaccount:team-a:app")
    equal(answer["Audience"], "sts.amazonaws.com")
    equal(caller(**keys_of(answer["Credentials"])), session("pod", "python"))


def tampered_web_identity():
    # The middle of the whole token is in its claims, that of the part after the
    # last dot in its signature.
    head, _, signature = TOKEN.rpartition(".")
    for token in (tampered(TOKEN), f"{head}.{tampered(signature)}"):
        with refused("InvalidIdentityToken"):
            exchange(token)


def expired_session():
    # The session starts ten minutes ago and ends five minutes from now; ten
    # minutes on it has ended, and no signature is older than what is allowed.
    with moved(-10):
        keys = assume()
    equal(caller(**keys), session("operator", "python"))
    with moved(10), refused("ExpiredToken", "The security token included in the request is expired"):
        caller(**keys)


def tampered_session():
    keys = assume()
    with refused("InvalidClientTokenId"):
        caller(**{**keys, "aws_session_token": tampered(keys["aws_session_token"])})
    with refused("InvalidClientTokenId"):
        caller(**{**keys, "aws_session_token": None})


def eks_token():
    # This is how programs in Python make a token for a cluster.
    own = boto3.Session(region_name=REGION, **KEYS)
    service = own.client("sts").meta.service_model.service_id
    signer = RequestSigner(service, REGION, "sts", "v4", own.get_credentials(), own.events)
    header = {"x-k8s-aws-id": "cluster-a"}
    url = signer.generate_presigned_url(
        {
            "method": "GET",
            "url": f"{ENDPOINT}/?Action=GetCallerIdentity&Version=2011-06-15",
            "body": {},
            "headers": dict(header),
            "context": {},
        },
        region_name=REGION,
        expires_in=60,
        operation_name="",
    )
    token = "k8s-aws-v1." + base64.urlsafe_b64encode(url.encode()).decode().rstrip("=")
    encoded = token.removeprefix("k8s-aws-v1.")
    url = base64.urlsafe_b64decode(encoded + "=" * (-len(encoded) % 4)).decode()
    status, text = ask(url, headers={**header, "Accept": "application/json"})
    equal(status, 200, text)
    equal(json.loads(text)["GetCallerIdentityResponse"]["GetCallerIdentityResult"]["Arn"], ADMINISTRATOR)
    equal(ask(url, headers={"x-k8s-aws-id": "cluster-b"})[0], 403)


CHECKS = {
    "the caller is the key's user": caller_is_the_user,
    "a wrong secret is refused": wrong_secret,
    "an unknown key is refused": unknown_key,
    "a role is assumed": role_is_assumed,
    "a web identity token becomes a session": web_identity,
    "a tampered web identity token is refused": tampered_web_identity,
    "a session that has expired is refused": expired_session,
    "a tampered session token is refused": tampered_session,
    "a presigned GetCallerIdentity is an EKS token": eks_token,
}
