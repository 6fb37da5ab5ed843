package main

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/tabard-dev/tabard/internal/testkit/must"
)

func TestASavedAnswerBecomesTheCatalogue(t *testing.T) {
	answer := filepath.Join(t.TempDir(), "answer.json")
	text := `{"InstanceTypes":[
		{"InstanceType":"p4d.24xlarge","CurrentGeneration":true,"BareMetal":false,"VCpuInfo":{"DefaultVCpus":96},"MemoryInfo":{"SizeInMiB":1179648},
		 "ProcessorInfo":{"SupportedArchitectures":["x86_64"]},"GpuInfo":{"Gpus":[{"Name":"A100","Manufacturer":"NVIDIA","Count":8,"LogicalGpuCount":8,"GpuPartitionSize":1}]}},
		{"InstanceType":"a1.metal","CurrentGeneration":false,"BareMetal":true,"VCpuInfo":{"DefaultVCpus":16},"MemoryInfo":{"SizeInMiB":32768},
		 "ProcessorInfo":{"SupportedArchitectures":["arm64"]}},
		{"InstanceType":"g6f.large","CurrentGeneration":true,"BareMetal":false,"VCpuInfo":{"DefaultVCpus":2},"MemoryInfo":{"SizeInMiB":8192},
		 "ProcessorInfo":{"SupportedArchitectures":["x86_64"]},"GpuInfo":{"Gpus":[{"Name":"L4","Manufacturer":"NVIDIA","Count":0,"LogicalGpuCount":1,"GpuPartitionSize":0.125}]}},
		{"InstanceType":"inf1.6xlarge","CurrentGeneration":true,"BareMetal":false,"VCpuInfo":{"DefaultVCpus":24},"MemoryInfo":{"SizeInMiB":49152},
		 "ProcessorInfo":{"SupportedArchitectures":["x86_64"]},"InferenceAcceleratorInfo":{"Accelerators":[{"Count":4,"Name":"Inferentia"}]},
		 "NeuronInfo":{"NeuronDevices":[{"Count":4,"Name":"Inferentia","CoreInfo":{"Count":4,"Version":1},"MemoryInfo":{"SizeInMiB":8192}}]}}]}`
	must.Do(t, os.WriteFile(answer, []byte(text), 0o600))
	kinds := must.Get(readAnswer(answer))(t)
	want := `# EC2 instance types as of 2026-01-02, from somewhere; see NOTICE.
# name,vCPUs,MiB,architectures,current,bare metal,GPU maker,GPU name,GPUs,logical GPUs,part of a GPU,Neuron name,Neuron devices,cores of each,version,MiB of each,inference accelerators
a1.metal,16,32768,arm64,false,true,,,,,,,,,,,
g6f.large,2,8192,x86_64,true,false,NVIDIA,L4,,1,0.125,,,,,,
inf1.6xlarge,24,49152,x86_64,true,false,,,,,,Inferentia,4,4,1,8192,true
p4d.24xlarge,96,1179648,x86_64,true,false,NVIDIA,A100,8,,,,,,,,
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

func TestWhatTheModuleLacksIsAdded(t *testing.T) {
	for name, want := range map[string]kind{
		"m5.large":     {name: "m5.large"},
		"inf2.xlarge":  {name: "inf2.xlarge", neuron: neuron{name: "Inferentia2", count: 1, cores: 2, version: 2, memoryMiB: 32768}},
		"inf1.xlarge":  {name: "inf1.xlarge", neuron: neuron{name: "Inferentia", count: 1, cores: 4, version: 1, memoryMiB: 8192, inference: true}},
		"dl1.24xlarge": {name: "dl1.24xlarge", gpuMaker: "Habana", gpuName: "Gaudi HL-205", gpuCount: 8},
	} {
		got := kind{name: name}
		if err := complete(&got); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		if diff := cmp.Diff(want, got, cmp.AllowUnexported(kind{}, neuron{})); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
	if err := complete(&kind{name: "trn2.new"}); err == nil {
		t.Error("a type whose devices nobody has counted passes")
	}
	if got := missing([]kind{{name: "g6f.large"}, {name: "g6f.xlarge"}}); len(got) != len(shares)-2 {
		t.Errorf("%d types are missing, want all shares but two", len(got))
	}
}
