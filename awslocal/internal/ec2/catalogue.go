package ec2

import (
	_ "embed"
	"encoding/csv"
	"fmt"
	"strconv"
	"strings"
	"sync"

	"github.com/tabard-dev/tabard/awslocal/internal/partition"
)

// instanceTypesText is written by hack/instancetypes.
//
//go:embed instancetypes.csv
var instanceTypesText string

// instanceType is what is known of one type.
type instanceType struct {
	name             string
	vcpus, memoryMiB int
	architectures    []string
	current, metal   bool
	gpu              gpu
}

type gpu struct {
	maker, name string
	count       int
}

// catalogue is all instance types, sorted by name. It is read at first use: a
// server that nobody asks for it does not pay for it.
var catalogue = sync.OnceValues(func() ([]instanceType, error) { return readCatalogue(instanceTypesText) })

func readCatalogue(text string) ([]instanceType, error) {
	reader := csv.NewReader(strings.NewReader(text))
	reader.Comment = '#'
	reader.FieldsPerRecord = 9
	records, err := reader.ReadAll()
	if err != nil {
		return nil, fmt.Errorf("the catalogue of instance types: %w", err)
	}
	out := make([]instanceType, 0, len(records))
	for _, r := range records {
		one := instanceType{
			name: r[0], architectures: strings.Fields(r[3]), current: r[4] == "true", metal: r[5] == "true",
			gpu: gpu{maker: r[6], name: r[7]},
		}
		for _, number := range []struct {
			text string
			into *int
		}{{r[1], &one.vcpus}, {r[2], &one.memoryMiB}, {r[8], &one.gpu.count}} {
			if number.text == "" {
				continue
			}
			if *number.into, err = strconv.Atoi(number.text); err != nil {
				return nil, fmt.Errorf("the catalogue of instance types: %s: %w", one.name, err)
			}
		}
		out = append(out, one)
	}
	return out, nil
}

// region is one region of a partition.
type region struct {
	name string
	// optIn says that an account must ask for it; here no account has.
	optIn bool
}

// regions are those of each partition (AWS General Reference, "AWS service
// endpoints"; AWS Account Management, "Enable or disable AWS Regions").
var regions = map[partition.Partition][]region{
	"aws": {
		{"af-south-1", true},
		{"ap-east-1", true},
		{"ap-northeast-1", false},
		{"ap-northeast-2", false},
		{"ap-northeast-3", false},
		{"ap-south-1", false},
		{"ap-south-2", true},
		{"ap-southeast-1", false},
		{"ap-southeast-2", false},
		{"ap-southeast-3", true},
		{"ap-southeast-4", true},
		{"ap-southeast-5", true},
		{"ca-central-1", false},
		{"ca-west-1", true},
		{"eu-central-1", false},
		{"eu-central-2", true},
		{"eu-north-1", false},
		{"eu-south-1", true},
		{"eu-south-2", true},
		{"eu-west-1", false},
		{"eu-west-2", false},
		{"eu-west-3", false},
		{"il-central-1", true},
		{"me-central-1", true},
		{"me-south-1", true},
		{"sa-east-1", false},
		{"us-east-1", false},
		{"us-east-2", false},
		{"us-west-1", false},
		{"us-west-2", false},
	},
	"aws-cn":     {{"cn-north-1", false}, {"cn-northwest-1", false}},
	"aws-us-gov": {{"us-gov-east-1", false}, {"us-gov-west-1", false}},
}
