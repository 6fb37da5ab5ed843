package main

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestASavedAnswerBecomesTheCatalogue(t *testing.T) {
	answer := filepath.Join(t.TempDir(), "answer.json")
	text := `{"InstanceTypes":[
		{"InstanceType":"p4d.24xlarge","CurrentGeneration":true,"BareMetal":false,"VCpuInfo":{"DefaultVCpus":96},"MemoryInfo":{"SizeInMiB":1179648},
		 "ProcessorInfo":{"SupportedArchitectures":["x86_64"]},"GpuInfo":{"Gpus":[{"Name":"A100","Manufacturer":"NVIDIA","Count":8}]}},
		{"InstanceType":"a1.metal","CurrentGeneration":false,"BareMetal":true,"VCpuInfo":{"DefaultVCpus":16},"MemoryInfo":{"SizeInMiB":32768},
		 "ProcessorInfo":{"SupportedArchitectures":["arm64"]}}]}`
	if err := os.WriteFile(answer, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	kinds, err := readAnswer(answer)
	if err != nil {
		t.Fatal(err)
	}
	want := `# EC2 instance types as of 2026-01-02, from somewhere; see NOTICE.
# name,vCPUs,MiB,architectures,current,bare metal,GPU maker,GPU name,GPUs
a1.metal,16,32768,arm64,false,true,,,
p4d.24xlarge,96,1179648,x86_64,true,false,NVIDIA,A100,8
`
	if diff := cmp.Diff(want, string(write("somewhere", "2026-01-02", kinds))); diff != "" {
		t.Errorf("catalogue (-want +got):\n%s", diff)
	}
}

func TestGPUName(t *testing.T) {
	for product, want := range map[string]string{"A100": "A100", "Tesla V100": "V100", "T4 Tensor Core": "T4", "GRID K520": "K520", "Radeon Pro V520": "Radeon Pro V520"} {
		if got := gpuName(product); got != want {
			t.Errorf("gpuName(%q) = %q, want %q", product, got, want)
		}
	}
}
