package ec2

import (
	"slices"
	"strings"
	"testing"

	"github.com/tabard-dev/tabard/iampolicy"
)

// described is the answer about one type.
func described(t *testing.T, name string) string {
	t.Helper()
	return ask(t, "Action=DescribeInstanceTypes&InstanceType.1="+name, iampolicy.Allow).Body.String()
}

func TestSharesOfAGPUAreNoWholeOnes(t *testing.T) {
	for name, part := range map[string]string{
		"g6f.large": "0.125", "g6f.xlarge": "0.125", "g6f.2xlarge": "0.25", "g6f.4xlarge": "0.5", "gr6f.4xlarge": "0.5",
	} {
		want := "<gpuInfo><gpus><item><name>L4</name><manufacturer>NVIDIA</manufacturer><count>0</count><gpuPartitionSize>" + part + "</gpuPartitionSize><logicalGpuCount>1</logicalGpuCount></item></gpus></gpuInfo>"
		if body := described(t, name); !strings.Contains(body, want) {
			t.Errorf("%s: %s lacks %s", name, body, want)
		}
	}
}

func TestNeuronDevicesAreNoGPUs(t *testing.T) {
	cases := map[string]struct{ devices, inference string }{
		"inf1.6xlarge": {
			"<item><count>4</count><name>Inferentia</name><coreInfo><count>4</count><version>1</version></coreInfo><memoryInfo><sizeInMiB>8192</sizeInMiB></memoryInfo></item></neuronDevices><totalNeuronDeviceMemoryInMiB>32768<",
			"<inferenceAcceleratorInfo><accelerators><member><count>4</count><name>Inferentia</name><manufacturer>AWS</manufacturer><memoryInfo><sizeInMiB>8192</sizeInMiB></memoryInfo></member></accelerators><totalInferenceMemoryInMiB>32768</totalInferenceMemoryInMiB></inferenceAcceleratorInfo>",
		},
		"inf2.48xlarge":  {"<item><count>12</count><name>Inferentia2</name><coreInfo><count>2</count><version>2</version></coreInfo><memoryInfo><sizeInMiB>32768</sizeInMiB></memoryInfo></item></neuronDevices><totalNeuronDeviceMemoryInMiB>393216<", ""},
		"trn1.2xlarge":   {"<item><count>1</count><name>Trainium</name><coreInfo><count>2</count><version>2</version></coreInfo><memoryInfo><sizeInMiB>32768</sizeInMiB></memoryInfo></item></neuronDevices><totalNeuronDeviceMemoryInMiB>32768<", ""},
		"trn1n.32xlarge": {"<item><count>16</count><name>Trainium</name><coreInfo><count>2</count><version>2</version></coreInfo><memoryInfo><sizeInMiB>32768</sizeInMiB></memoryInfo></item></neuronDevices><totalNeuronDeviceMemoryInMiB>524288<", ""},
		"trn2.48xlarge":  {"<item><count>16</count><name>Trainium2</name><coreInfo><count>8</count><version>3</version></coreInfo><memoryInfo><sizeInMiB>98304</sizeInMiB></memoryInfo></item></neuronDevices><totalNeuronDeviceMemoryInMiB>1572864<", ""},
	}
	for name, tc := range cases {
		body := described(t, name)
		if !strings.Contains(body, "<neuronInfo><neuronDevices>"+tc.devices+"/totalNeuronDeviceMemoryInMiB></neuronInfo>") || !strings.Contains(body, tc.inference) || strings.Contains(body, "gpuInfo") {
			t.Errorf("%s: %s, want no GPU, and the devices %s and %s", name, body, tc.devices, tc.inference)
		}
		if tc.inference == "" && strings.Contains(body, "inferenceAcceleratorInfo") {
			t.Errorf("%s is shown as one of inference: %s", name, body)
		}
	}
}

func TestEveryTypeOfNeuronHasItsDevices(t *testing.T) {
	all, err := catalogue()
	if err != nil {
		t.Fatal(err)
	}
	count := 0
	for _, one := range all {
		family, _, _ := strings.Cut(one.name, ".")
		n := one.neuron
		isNeuron := slices.Contains([]string{"inf1", "inf2", "trn1", "trn1n", "trn2"}, family)
		if isNeuron {
			count++
		}
		if isComplete := n.name != "" && n.count > 0 && n.cores > 0 && n.version > 0 && n.memoryMiB > 0; isComplete != isNeuron {
			t.Errorf("%s has %+v", one.name, n)
		}
		if g := one.gpu; (g.maker != "") != (g.count+g.logical > 0) || (g.part != 0) != (g.logical > 0) || g.count > 0 && g.logical > 0 {
			t.Errorf("%s has %+v", one.name, g)
		}
	}
	if count != 12 {
		t.Errorf("%d types have Neuron devices, want 12", count)
	}
	gaudi := slices.IndexFunc(all, func(t instanceType) bool { return t.name == "dl1.24xlarge" })
	if want := (gpu{maker: "Habana", name: "Gaudi HL-205", count: 8}); gaudi < 0 || all[gaudi].gpu != want {
		t.Errorf("dl1.24xlarge is not there with %+v", want)
	}
}

func TestABrokenCatalogueIsRefused(t *testing.T) {
	const good = "x.large,2,1024,x86_64,true,false,NVIDIA,L4,,1,0.5,Inferentia,1,4,1,8192,true\n"
	if all, err := readCatalogue(good); err != nil || len(all) != 1 || all[0].neuron.memoryMiB != 8192 || all[0].gpu.part != 0.5 {
		t.Fatalf("a good line: %+v, %v", all, err)
	}
	for name, change := range map[string][2]string{
		"a number that is none":   {"1024", "much"},
		"a part that is none":     {"0.5", "half"},
		"devices that are none":   {"Inferentia,1", "Inferentia,one"},
		"a column too few":        {",8192", ""},
		"a quote that has no end": {"x86_64", `"x86_64`},
	} {
		if all, err := readCatalogue(strings.Replace(good, change[0], change[1], 1)); err == nil {
			t.Errorf("%s passes as %+v", name, all)
		}
	}
}
