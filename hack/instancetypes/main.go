// Command instancetypes writes the catalogue of EC2 instance types that the
// local AWS knows, from one of two sources:
//
//	go run ./hack/instancetypes                    # a public data module, by the Go module proxy
//	go run ./hack/instancetypes --from answer.json # aws ec2 describe-instance-types > answer.json
//
// The module is fetched and read as data; it is no dependency of the product.
package main

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
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
)

// kind is one instance type.
type kind struct {
	name                 string
	vcpus, memoryMiB     int
	architectures        []string
	gpuMaker, gpuName    string
	gpuCount             int
	current, isBareMetal bool
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
	source, day := module+"@"+version, asOf
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
	fmt.Fprintf(&out, "# EC2 instance types as of %s, from %s; see NOTICE.\n# name,vCPUs,MiB,architectures,current,bare metal,GPU maker,GPU name,GPUs\n", day, source)
	for _, k := range kinds {
		fmt.Fprintf(&out, "%s,%d,%d,%s,%t,%t,%s,%s,%s\n", k.name, k.vcpus, k.memoryMiB, strings.Join(k.architectures, " "),
			k.current, k.isBareMetal, k.gpuMaker, k.gpuName, count(k.gpuCount))
	}
	return out.Bytes()
}

func count(n int) string {
	if n == 0 {
		return ""
	}
	return strconv.Itoa(n)
}

// readModule reads the data module. What it calls a GPU may be another kind of
// accelerator, which EC2 reports elsewhere: only NVIDIA and AMD make GPUs here.
func readModule(ctx context.Context) ([]kind, error) {
	dir, err := download(ctx)
	if err != nil {
		return nil, err
	}
	text, err := os.ReadFile(filepath.Join(dir, "data", "instances.json"))
	if err != nil {
		return nil, err
	}
	var all []struct {
		Name       string   `json:"instance_type"`
		VCPUs      int      `json:"vCPU"`
		MemoryGiB  float64  `json:"memory"`
		Arch       []string `json:"arch"`
		Generation string   `json:"generation"`
		GPUs       int      `json:"GPU"`
		GPUModel   string   `json:"GPU_model"`
	}
	if err := json.Unmarshal(text, &all); err != nil {
		return nil, err
	}
	out := make([]kind, 0, len(all))
	for _, one := range all {
		k := kind{
			name: one.Name, vcpus: one.VCPUs, memoryMiB: int(one.MemoryGiB*1024 + 0.5), architectures: one.Arch,
			current: one.Generation == "current", isBareMetal: strings.Contains(one.Name, ".metal"),
		}
		if maker, name, ok := strings.Cut(one.GPUModel, " "); ok && (maker == "NVIDIA" || maker == "AMD") {
			k.gpuMaker, k.gpuName, k.gpuCount = maker, gpuName(name), one.GPUs
		}
		out = append(out, k)
	}
	return out, nil
}

// gpuName leaves of a product's name what EC2 calls it.
func gpuName(name string) string {
	name = strings.TrimPrefix(strings.TrimPrefix(name, "Tesla "), "GRID ")
	return strings.TrimSuffix(name, " Tensor Core")
}

// download has the go command fetch the module and say where it is.
func download(ctx context.Context) (string, error) {
	out, err := exec.CommandContext(ctx, "go", "mod", "download", "-json", module+"@"+version).Output()
	if err != nil {
		return "", fmt.Errorf("fetch %s: %w", module, err)
	}
	var answer struct{ Dir string }
	return answer.Dir, json.Unmarshal(out, &answer)
}

// readAnswer reads what the AWS command line prints.
func readAnswer(path string) ([]kind, error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	var answer struct {
		InstanceTypes []struct {
			InstanceType      string
			CurrentGeneration bool
			BareMetal         bool
			VCPUInfo          struct{ DefaultVCpus int }                `json:"VCpuInfo"`
			MemoryInfo        struct{ SizeInMiB int }                   `json:"MemoryInfo"`
			ProcessorInfo     struct{ SupportedArchitectures []string } `json:"ProcessorInfo"`
			GPUInfo           struct {
				Gpus []struct {
					Name, Manufacturer string
					Count              int
				}
			} `json:"GpuInfo"`
		}
	}
	if err := json.Unmarshal(text, &answer); err != nil {
		return nil, err
	}
	out := make([]kind, 0, len(answer.InstanceTypes))
	for _, one := range answer.InstanceTypes {
		k := kind{
			name: one.InstanceType, vcpus: one.VCPUInfo.DefaultVCpus, memoryMiB: one.MemoryInfo.SizeInMiB,
			architectures: one.ProcessorInfo.SupportedArchitectures, current: one.CurrentGeneration, isBareMetal: one.BareMetal,
		}
		if len(one.GPUInfo.Gpus) > 0 {
			gpu := one.GPUInfo.Gpus[0]
			k.gpuMaker, k.gpuName, k.gpuCount = gpu.Manufacturer, gpu.Name, gpu.Count
		}
		out = append(out, k)
	}
	return out, nil
}
