package ec2

import (
	"encoding/xml"
	"net/http"

	"github.com/tabard-dev/tabard/awslocal/internal/call"
)

// namespace is that of version 2016-11-15.
const namespace = "http://ec2.amazonaws.com/doc/2016-11-15/"

// neuronMaker makes all Neuron devices, and neuronInfo does not say so.
const neuronMaker = "AWS"

type instanceTypesAnswer struct {
	XMLName   xml.Name           `xml:"DescribeInstanceTypesResponse"`
	Namespace string             `xml:"xmlns,attr"`
	RequestID string             `xml:"requestId"`
	Types     []instanceTypeItem `xml:"instanceTypeSet>item"`
	NextToken string             `xml:"nextToken,omitempty"`
}

type instanceTypeItem struct {
	InstanceType  string         `xml:"instanceType"`
	Current       bool           `xml:"currentGeneration"`
	Metal         bool           `xml:"bareMetal"`
	Architectures []string       `xml:"processorInfo>supportedArchitectures>item"`
	VCPUs         int            `xml:"vCpuInfo>defaultVCpus"`
	MemoryMiB     int            `xml:"memoryInfo>sizeInMiB"`
	GPUs          *[]gpuTag      `xml:"gpuInfo>gpus>item,omitempty"`
	Inference     *inferenceInfo `xml:"inferenceAcceleratorInfo,omitempty"`
	Neuron        *neuronInfo    `xml:"neuronInfo,omitempty"`
}

type gpuTag struct {
	Name    string  `xml:"name"`
	Maker   string  `xml:"manufacturer"`
	Count   int     `xml:"count"`
	Part    float64 `xml:"gpuPartitionSize"`
	Logical int     `xml:"logicalGpuCount"`
}

// inferenceInfo has a list whose items are named unlike those of all others.
type inferenceInfo struct {
	Accelerators []inferenceTag `xml:"accelerators>member"`
	TotalMiB     int            `xml:"totalInferenceMemoryInMiB"`
}

type inferenceTag struct {
	Count     int    `xml:"count"`
	Name      string `xml:"name"`
	Maker     string `xml:"manufacturer"`
	MemoryMiB int    `xml:"memoryInfo>sizeInMiB"`
}

type neuronInfo struct {
	Devices  []neuronTag `xml:"neuronDevices>item"`
	TotalMiB int         `xml:"totalNeuronDeviceMemoryInMiB"`
}

type neuronTag struct {
	Count     int    `xml:"count"`
	Name      string `xml:"name"`
	Cores     int    `xml:"coreInfo>count"`
	Version   int    `xml:"coreInfo>version"`
	MemoryMiB int    `xml:"memoryInfo>sizeInMiB"`
}

func (t instanceType) item() instanceTypeItem {
	out := instanceTypeItem{
		InstanceType: t.name, Current: t.current, Metal: t.metal,
		Architectures: t.architectures, VCPUs: t.vcpus, MemoryMiB: t.memoryMiB,
	}
	switch {
	case t.gpu.count > 0: // whole ones
		out.GPUs = &[]gpuTag{{t.gpu.name, t.gpu.maker, t.gpu.count, 1, t.gpu.count}}
	case t.gpu.logical > 0:
		out.GPUs = &[]gpuTag{{t.gpu.name, t.gpu.maker, 0, t.gpu.part, t.gpu.logical}}
	}
	if n := t.neuron; n.count > 0 {
		out.Neuron = &neuronInfo{[]neuronTag{{n.count, n.name, n.cores, n.version, n.memoryMiB}}, n.count * n.memoryMiB}
		if n.inference {
			out.Inference = &inferenceInfo{[]inferenceTag{{n.count, n.name, neuronMaker, n.memoryMiB}}, n.count * n.memoryMiB}
		}
	}
	return out
}

type regionsAnswer struct {
	XMLName   xml.Name     `xml:"DescribeRegionsResponse"`
	Namespace string       `xml:"xmlns,attr"`
	RequestID string       `xml:"requestId"`
	Regions   []regionItem `xml:"regionInfo>item"`
}

type regionItem struct {
	Name     string `xml:"regionName"`
	Endpoint string `xml:"regionEndpoint"`
	OptIn    string `xml:"optInStatus"`
}

type errorAnswer struct {
	XMLName xml.Name `xml:"Response"`
	Error   struct {
		Code    string
		Message string
	} `xml:"Errors>Error"`
	RequestID string
}

// Refuse answers an error in EC2's form and notes it in the journal's entry.
func Refuse(w http.ResponseWriter, c *call.Call, f *call.Fault) {
	c.Entry.Error = f.Code
	answer := errorAnswer{RequestID: c.ID}
	answer.Error.Code, answer.Error.Message = f.Code, f.Message
	write(w, f.Status, answer)
}

func write(w http.ResponseWriter, status int, answer any) {
	body, err := xml.Marshal(answer)
	if err != nil { // the types above can all be written
		status, body = http.StatusInternalServerError, []byte("<Response/>")
	}
	w.Header().Set("Content-Type", "text/xml;charset=UTF-8")
	w.WriteHeader(status)
	_, _ = w.Write(append([]byte(xml.Header), body...)) // a client that has gone is nothing to report
}
