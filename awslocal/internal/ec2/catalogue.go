package ec2

import (
	_ "embed"
	"encoding/csv"
	"fmt"
	"strconv"
	"strings"
	"sync"
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
	neuron           neuron
}

// gpu are the GPUs of one type, all of one model.
type gpu struct {
	maker, name string
	// count is 0 where the type has a share of a GPU; logical counts those shares,
	// and part is how large each is.
	count, logical int
	part           float64
}

// neuron are the Neuron devices of one type: AWS's own accelerators.
type neuron struct {
	name string
	// cores, of that version, and memoryMiB are those of each device.
	count, cores, version, memoryMiB int
	// inference says that EC2 lists them as inference accelerators too.
	inference bool
}

// catalogue is all instance types, sorted by name. It is read at first use: a
// server that nobody asks for it does not pay for it.
var catalogue = sync.OnceValues(func() ([]instanceType, error) { return readCatalogue(instanceTypesText) })

// The columns of the catalogue, which its second line names.
const (
	columnName = iota
	columnVCPUs
	columnMiB
	columnArchitectures
	columnCurrent
	columnMetal
	columnGPUMaker
	columnGPUName
	columnGPUs
	columnLogicalGPUs
	columnGPUPart
	columnNeuronName
	columnNeurons
	columnNeuronCores
	columnNeuronVersion
	columnNeuronMiB
	columnInference
	columns
)

func readCatalogue(text string) ([]instanceType, error) {
	reader := csv.NewReader(strings.NewReader(text))
	reader.Comment = '#'
	reader.FieldsPerRecord = columns
	records, err := reader.ReadAll()
	if err != nil {
		return nil, fmt.Errorf("the catalogue of instance types: %w", err)
	}
	out := make([]instanceType, 0, len(records))
	for _, record := range records {
		one, err := readType(record)
		if err != nil {
			return nil, fmt.Errorf("the catalogue of instance types: %s: %w", record[columnName], err)
		}
		out = append(out, one)
	}
	return out, nil
}

// readType reads one line. An empty number is 0.
func readType(record []string) (instanceType, error) {
	one := instanceType{
		name: record[columnName], architectures: strings.Fields(record[columnArchitectures]),
		current: record[columnCurrent] == "true", metal: record[columnMetal] == "true",
		gpu:    gpu{maker: record[columnGPUMaker], name: record[columnGPUName]},
		neuron: neuron{name: record[columnNeuronName], inference: record[columnInference] == "true"},
	}
	var err error
	for column, into := range map[int]*int{
		columnVCPUs: &one.vcpus, columnMiB: &one.memoryMiB,
		columnGPUs: &one.gpu.count, columnLogicalGPUs: &one.gpu.logical,
		columnNeurons: &one.neuron.count, columnNeuronCores: &one.neuron.cores,
		columnNeuronVersion: &one.neuron.version, columnNeuronMiB: &one.neuron.memoryMiB,
	} {
		if record[column] == "" {
			continue
		}
		if *into, err = strconv.Atoi(record[column]); err != nil {
			return one, err
		}
	}
	if part := record[columnGPUPart]; part != "" {
		one.gpu.part, err = strconv.ParseFloat(part, 64)
	}
	return one, err
}
