package main

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

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
		if err := complete(&k); err != nil {
			return nil, err
		}
		out = append(out, k)
	}
	return append(out, missing(out)...), nil
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
