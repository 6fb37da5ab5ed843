"""Roles and policies, lists in pages, waiters, and refusals by class."""

import datetime
import json
import threading

from sts import assume
from world import ADMINISTRATOR, client, equal, refused, role, session

TRUST = {
    "Version": "2012-10-17",
    "Statement": [{"Effect": "Allow", "Principal": {"AWS": ADMINISTRATOR}, "Action": "sts:AssumeRole"}],
}

iam = client("iam")


def role_is_written():
    made = iam.create_role(
        RoleName="written",
        Path="/python/",
        AssumeRolePolicyDocument=json.dumps(TRUST),
        Description="für alle & <jeden>",
        MaxSessionDuration=7200,
        Tags=[{"Key": "team", "Value": "a b+c"}],
    )
    equal(made["Role"]["Arn"], role("python/written"))
    read = iam.get_role(RoleName="written")["Role"]
    equal(read["AssumeRolePolicyDocument"], TRUST)
    equal(read["Description"], "für alle & <jeden>")
    equal(read["MaxSessionDuration"], 7200)
    equal(read["Tags"], [{"Key": "team", "Value": "a b+c"}])
    equal(type(read["CreateDate"]), datetime.datetime)
    iam.delete_role(RoleName="written")
    with refused("NoSuchEntity"):
        iam.get_role(RoleName="written")


def in_pages(operation, items, **arguments):
    """The items of all pages of ten, and how many pages there were."""
    pages = list(iam.get_paginator(operation).paginate(PathPrefix="/pages/", PaginationConfig={"PageSize": 10}, **arguments))
    return [item for page in pages for item in page[items]], len(pages)


def roles_in_pages():
    found, count = in_pages("list_roles", "Roles")
    equal(([one["RoleName"] for one in found], count), ([f"page-{i:02}" for i in range(25)], 3))


def policies_in_pages():
    found, count = in_pages("list_policies", "Policies", Scope="Local")
    equal(([one["PolicyName"] for one in found], count), ([f"page-{i:02}" for i in range(25)], 3))


def role_is_waited_for():
    failures = []

    def wait():
        try:
            client("iam").get_waiter("role_exists").wait(RoleName="awaited", WaiterConfig={"Delay": 1, "MaxAttempts": 60})
        except Exception as error:  # it belongs to the thread that started this one
            failures.append(error)

    waiting = threading.Thread(target=wait)
    waiting.start()
    with refused("NoSuchEntity"):
        iam.get_role(RoleName="awaited")
    iam.create_role(RoleName="awaited", AssumeRolePolicyDocument=json.dumps(TRUST))
    waiting.join()
    equal(failures, [])


def missing_role():
    try:
        iam.get_role(RoleName="none")
    except iam.exceptions.NoSuchEntityException as error:
        equal(error.response["Error"]["Message"], "The role with name none cannot be found.")
        equal(error.response["ResponseMetadata"]["HTTPStatusCode"], 404)
        return
    raise AssertionError("a role that is missing was read")


def no_permission():
    text = (
        f"User: {session('operator', 'python')} is not authorized to perform: iam:GetRole on resource: {role('pod')} "
        "because no identity-based policy allows the iam:GetRole action"
    )
    with refused("AccessDenied", text):
        client("iam", **assume()).get_role(RoleName="pod")


CHECKS = {
    "a role is written and read": role_is_written,
    "roles come in pages": roles_in_pages,
    "policies come in pages": policies_in_pages,
    "a role is waited for": role_is_waited_for,
    "a role that is missing is NoSuchEntity": missing_role,
    "a call without permission is AccessDenied": no_permission,
}
