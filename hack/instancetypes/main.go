// Command instancetypes writes the catalogue of EC2 instance types that the
// local AWS knows, from one of two sources:
//
//	go run ./hack/instancetypes                    # a public data module, by the Go module proxy
//	go run ./hack/instancetypes --from answer.json # aws ec2 describe-instance-types > answer.json
//
// The module is fetched and read as data; it is no dependency of the product. What
// it does not have of accelerators is added by hand.
package main

import (
	"bytes"
	"cmp"
	"context"
	"flag"
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"
)

const (
	module  = "github.com/cristim/ec2-instances-info"
	version = "v0.0.0-20250528091325-32acf84f42eb"
	asOf    = "2025-05-28"
	target  = "awslocal/internal/ec2/instancetypes.csv"
	columns = "# name,vCPUs,MiB,architectures,current,bare metal,GPU maker,GPU name,GPUs,logical GPUs,part of a GPU," +
		"Neuron name,Neuron devices,cores of each,version,MiB of each,inference accelerators"
)

// kind is one instance type.
type kind struct {
	name                 string
	vcpus, memoryMiB     int
	architectures        []string
	gpuMaker, gpuName    string
	gpuCount             int
	current, isBareMetal bool
	// logicalGPUs are those of a type that has a share of a GPU, of the size
	// gpuPart; then gpuCount is 0.
	logicalGPUs int
	gpuPart     float64
	neuron      neuron
}

// neuron are the Neuron devices of a type: AWS's own accelerators.
type neuron struct {
	name string
	// cores, of that version, and memoryMiB are those of each device.
	count, cores, version, memoryMiB int
	// inference says that EC2 lists them as inference accelerators too.
	inference bool
}

func main() {
	from := flag.String("from", "", "a saved answer of DescribeInstanceTypes, as JSON")
	flag.Parse()
	if err := run(context.Background(), *from); err != nil {
		fmt.Fprintln(os.Stderr, "instancetypes:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, from string) error {
	source, day := module+"@"+version+" and hack/instancetypes/accelerator.go", asOf
	read := func() ([]kind, error) { return readModule(ctx) }
	if from != "" {
		source, day = "DescribeInstanceTypes", time.Now().UTC().Format(time.DateOnly)
		read = func() ([]kind, error) { return readAnswer(from) }
	}
	kinds, err := read()
	if err != nil {
		return err
	}
	if err := os.WriteFile(target, write(source, day, kinds), 0o644); err != nil {
		return err
	}
	_, err = fmt.Fprintf(os.Stdout, "%s: %d instance types as of %s\n", target, len(kinds), day)
	return err
}

// write is the catalogue as text, sorted by name.
func write(source, day string, kinds []kind) []byte {
	slices.SortFunc(kinds, func(a, b kind) int { return cmp.Compare(a.name, b.name) })
	var out bytes.Buffer
	fmt.Fprintf(&out, "# EC2 instance types as of %s, from %s; see NOTICE.\n%s\n", day, source, columns)
	for _, k := range kinds {
		inference := ""
		if k.neuron.inference {
			inference = "true"
		}
		fmt.Fprintf(&out, "%s,%d,%d,%s,%t,%t,%s,%s,%s,%s,%s,%s,%s,%s,%s,%s,%s\n", k.name, k.vcpus, k.memoryMiB, strings.Join(k.architectures, " "),
			k.current, k.isBareMetal, k.gpuMaker, k.gpuName, count(k.gpuCount), count(k.logicalGPUs), part(k.gpuPart),
			k.neuron.name, count(k.neuron.count), count(k.neuron.cores), count(k.neuron.version), count(k.neuron.memoryMiB), inference)
	}
	return out.Bytes()
}

func count(n int) string {
	if n == 0 {
		return ""
	}
	return strconv.Itoa(n)
}

func part(of float64) string {
	if of == 0 {
		return ""
	}
	return strconv.FormatFloat(of, 'f', -1, 64)
}
