package main

import (
	"fmt"
	"slices"
	"strings"
)

// What the data module lacks or has wrong, by hand. It takes every accelerator of
// AWS's for an Inferentia and counts those of trn2 as one, and it is older than the
// shares of a GPU. Sources: Amazon EC2 Instance Types, "Specifications for Amazon
// EC2 accelerated computing instances", for counts and memory; AWS Neuron
// documentation, "Inf1", "Inf2", "Trn1/Trn1n" and "Trn2 Architecture", for cores.

// neurons are what each device has, by family.
var neurons = map[string]neuron{
	"inf1":  {name: "Inferentia", cores: 4, version: 1, memoryMiB: 8 << 10, inference: true},
	"inf2":  {name: "Inferentia2", cores: 2, version: 2, memoryMiB: 32 << 10},
	"trn1":  {name: "Trainium", cores: 2, version: 2, memoryMiB: 32 << 10},
	"trn1n": {name: "Trainium", cores: 2, version: 2, memoryMiB: 32 << 10},
	"trn2":  {name: "Trainium2", cores: 8, version: 3, memoryMiB: 96 << 10},
}

// neuronCounts are how many devices each type of these families has.
var neuronCounts = map[string]int{
	"inf1.xlarge": 1, "inf1.2xlarge": 1, "inf1.6xlarge": 4, "inf1.24xlarge": 16,
	"inf2.xlarge": 1, "inf2.8xlarge": 1, "inf2.24xlarge": 6, "inf2.48xlarge": 12,
	"trn1.2xlarge": 1, "trn1.32xlarge": 16, "trn1n.32xlarge": 16,
	"trn2.48xlarge": 16,
}

// shares are the types with a share of a GPU.
var shares = []kind{
	share("g6f.large", 2, 8, 1.0/8),
	share("g6f.xlarge", 4, 16, 1.0/8),
	share("g6f.2xlarge", 8, 32, 1.0/4),
	share("g6f.4xlarge", 16, 64, 1.0/2),
	share("gr6f.4xlarge", 16, 128, 1.0/2),
}

func share(name string, vcpus, memoryGiB int, of float64) kind {
	return kind{
		name: name, vcpus: vcpus, memoryMiB: memoryGiB << 10, architectures: []string{"x86_64"}, current: true,
		gpuMaker: "NVIDIA", gpuName: "L4", logicalGPUs: 1, gpuPart: of,
	}
}

// complete adds to a type of the module what the module has not. A new type of
// these families must come into the tables first.
func complete(k *kind) error {
	if k.name == "dl1.24xlarge" {
		k.gpuMaker, k.gpuName, k.gpuCount = "Habana", "Gaudi HL-205", 8
	}
	family, _, _ := strings.Cut(k.name, ".")
	one, isNeuron := neurons[family]
	if !isNeuron {
		return nil
	}
	count, known := neuronCounts[k.name]
	if !known {
		return fmt.Errorf("how many Neuron devices %s has is not in the table", k.name)
	}
	one.count = count
	k.neuron = one
	return nil
}

// missing are the types of this file that the module does not have.
func missing(kinds []kind) []kind {
	return slices.DeleteFunc(slices.Clone(shares), func(s kind) bool {
		return slices.ContainsFunc(kinds, func(k kind) bool { return k.name == s.name })
	})
}
