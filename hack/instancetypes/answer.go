package main

import (
	"encoding/json"
	"os"
)

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
					Name, Manufacturer     string
					Count, LogicalGpuCount int
					GpuPartitionSize       float64
				}
			} `json:"GpuInfo"`
			InferenceAcceleratorInfo struct{ Accelerators []struct{ Count int } }
			NeuronInfo               struct {
				NeuronDevices []struct {
					Count      int
					Name       string
					CoreInfo   struct{ Count, Version int }
					MemoryInfo struct{ SizeInMiB int }
				}
			}
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
			if gpu.Count == 0 {
				k.logicalGPUs, k.gpuPart = gpu.LogicalGpuCount, gpu.GpuPartitionSize
			}
		}
		if devices := one.NeuronInfo.NeuronDevices; len(devices) > 0 {
			d := devices[0]
			k.neuron = neuron{d.Name, d.Count, d.CoreInfo.Count, d.CoreInfo.Version, d.MemoryInfo.SizeInMiB, len(one.InferenceAcceleratorInfo.Accelerators) > 0}
		}
		out = append(out, k)
	}
	return out, nil
}
