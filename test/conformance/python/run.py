"""Runs every check against the local AWS that the environment names, and prints
one line of JSON for each: {"name", "ok", "detail"}. The first line names the
client. The exit code is 0 even where checks fail: the lines tell.
"""

import json
import platform
import sys
import traceback

import boto3
import botocore

import chain
import ec2
import eks
import iam
import s3
import sts

# Before 1.31 botocore did not know AWS_ENDPOINT_URL: the STS clients that it
# makes for itself in the default chain would ask AWS.
KNOWS_ENDPOINT_URL = tuple(int(part) for part in botocore.__version__.split(".")[:2]) >= (1, 31)


def report(**line):
    print(json.dumps(line), flush=True)


def main():
    report(client=f"boto3 {boto3.__version__}, botocore {botocore.__version__}, Python {platform.python_version()}")
    groups = [sts, iam, s3, eks, ec2]
    if KNOWS_ENDPOINT_URL:
        groups.insert(1, chain)
    for group in groups:
        for name, check in group.CHECKS.items():
            try:
                check()
                report(name=name, ok=True, detail="")
            except Exception:  # whatever a check raises is its detail
                report(name=name, ok=False, detail=traceback.format_exc())
    return 0


if __name__ == "__main__":
    sys.exit(main())
