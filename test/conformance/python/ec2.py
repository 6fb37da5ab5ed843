"""Instance types, which come in pages, and regions, which do not."""

from world import client, equal, refused

ec2 = client("ec2")


def types_in_pages():
    pages = list(ec2.get_paginator("describe_instance_types").paginate(PaginationConfig={"PageSize": 100}))
    found = {one["InstanceType"]: one for page in pages for one in page["InstanceTypes"]}
    if len(found) < 600:
        raise AssertionError(f"{len(found)} instance types")
    equal([len(page["InstanceTypes"]) for page in pages], [100] * (len(found) // 100) + [len(found) % 100])
    large = found["p4d.24xlarge"]
    equal(large["VCpuInfo"]["DefaultVCpus"], 96)
    equal(large["MemoryInfo"]["SizeInMiB"], 1179648)
    equal(large["GpuInfo"]["Gpus"][0]["Count"], 8)
    with refused("InvalidInstanceType", "[m5.tiny]"):
        ec2.describe_instance_types(InstanceTypes=["m5.tiny"])


def regions():
    answer = ec2.describe_regions(RegionNames=["eu-west-1"])
    equal([region["Endpoint"] for region in answer["Regions"]], ["ec2.eu-west-1.amazonaws.com"])


CHECKS = {"instance types come in pages": types_in_pages, "regions are listed": regions}
