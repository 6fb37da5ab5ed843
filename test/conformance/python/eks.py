"""A cluster, and the associations of its pods with roles."""

from world import ACCOUNT, REGION, client, equal

eks = client("eks")


def cluster():
    eks.get_waiter("cluster_active").wait(name="cluster-a")
    found = eks.describe_cluster(name="cluster-a")["cluster"]
    equal((found["arn"], found["status"]), (f"arn:aws:eks:{REGION}:{ACCOUNT}:cluster/cluster-a", "ACTIVE"))
    equal(found["createdAt"].tzinfo is not None, True)


def missing_cluster():
    try:
        eks.describe_cluster(name="none")
    except eks.exceptions.ResourceNotFoundException as error:
        equal(error.response["Error"]["Message"], "No cluster found for name: none.")
        return
    raise AssertionError("a cluster that is missing was described")


def associations():
    pages = eks.get_paginator("list_pod_identity_associations").paginate(clusterName="cluster-a")
    found = [f"{one['namespace']}/{one['serviceAccount']}" for page in pages for one in page["associations"]]
    equal(found, ["team-a/app"])


CHECKS = {
    "a cluster is waited for and described": cluster,
    "a cluster that is missing is ResourceNotFound": missing_cluster,
}
# Pod identity came after the clients that do not know AWS_ENDPOINT_URL.
if "list_pod_identity_associations" in dir(eks):
    CHECKS["pod identity associations are listed"] = associations
