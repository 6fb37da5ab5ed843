package instancetype

import (
	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/ec2/types"

	"github.com/tabard-dev/tabard/internal/core/instancetype"
)

// facts takes out of EC2's answer what counts. Whatever EC2 leaves out is zero.
func facts(info *types.InstanceTypeInfo) instancetype.Facts {
	out := instancetype.Facts{Name: string(info.InstanceType)}
	if info.VCpuInfo != nil {
		out.VCPUs = int64(aws.ToInt32(info.VCpuInfo.DefaultVCpus))
	}
	if info.MemoryInfo != nil {
		out.MemoryMiB = aws.ToInt64(info.MemoryInfo.SizeInMiB)
	}
	if info.ProcessorInfo != nil {
		for _, one := range info.ProcessorInfo.SupportedArchitectures {
			out.Architectures = append(out.Architectures, string(one))
		}
	}
	if info.GpuInfo != nil {
		for _, gpu := range info.GpuInfo.Gpus {
			out.GPUs = append(out.GPUs, instancetype.Devices{
				Maker:   aws.ToString(gpu.Manufacturer),
				Count:   int64(aws.ToInt32(gpu.Count)),
				Logical: int64(aws.ToInt32(gpu.LogicalGpuCount)),
			})
		}
	}
	if info.NeuronInfo != nil {
		for _, device := range info.NeuronInfo.NeuronDevices {
			out.Neurons = append(out.Neurons, instancetype.Devices{Count: int64(aws.ToInt32(device.Count))})
		}
	}
	return out
}
