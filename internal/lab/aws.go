package lab

import (
	"fmt"
	"os"
)

const (
	// awsConfigMap and awsCAConfigMap tell pods of the local AWS.
	awsConfigMap   = "tabard-lab-aws"
	awsCAConfigMap = "tabard-lab-aws-ca"
	// awsCAFolder is where pods mount the CA.
	awsCAFolder = "/etc/tabard-lab"
	// envLabCA tells the issuer's controller to trust the local AWS where anybody looks at
	// the issuer's URL: AWS_CA_BUNDLE does not count there.
	envLabCA = "TABARD_LAB_CA"
)

// AWSVariables lead a program to the local AWS, whose CA it sees at a path.
func (lab Lab) AWSVariables(ca string) []Variable {
	return []Variable{
		{"AWS_ENDPOINT_URL", lab.AWSURL()},
		// The SDK for Go makes the STS client of its web identity provider before it
		// reads AWS_ENDPOINT_URL: without the second name it would call the real STS.
		{"AWS_ENDPOINT_URL_STS", lab.AWSURL()},
		{"AWS_CA_BUNDLE", ca},
		{envLabCA, ca},
	}
}

// MetadataVariables keep a program away from the machine's own instance metadata
// service, at 169.254.169.254 on EC2, whose role it would become. The SDKs that know
// the first variable do not ask; the others ask a port at which nothing answers, and
// which no program but root's can take.
func MetadataVariables() []Variable {
	return []Variable{
		{"AWS_EC2_METADATA_DISABLED", "true"},
		{"AWS_EC2_METADATA_SERVICE_ENDPOINT", "http://" + Loopback + ":1"},
	}
}

// writeAWSManifests writes what pods on the node need to find the local AWS: two
// ConfigMaps for any namespace, and a patch for the Deployment of the issuer's
// controller. The CA is made by the local AWS itself, so it must be up.
func (lab Lab) writeAWSManifests() error {
	if lab.Node == nil {
		return nil
	}
	ca, err := os.ReadFile(lab.AWSCA())
	if err != nil {
		return fmt.Errorf("read the CA of the local AWS: %w", err)
	}
	// The issuer's own ConfigMap names its region.
	data, variables := object{"AWS_REGION": Region}, []object{}
	for _, variable := range lab.AWSVariables(awsCAFolder + "/ca.crt") {
		data[variable.Name] = variable.Value
		variables = append(variables, object{"name": variable.Name, "value": variable.Value})
	}
	configMap := func(name string, data object) object {
		return object{"apiVersion": "v1", "kind": "ConfigMap", "metadata": object{"name": name}, "data": data}
	}
	pod := object{
		"containers": []object{{"name": "operator", "env": variables, "volumeMounts": []object{{"name": "lab-ca", "mountPath": awsCAFolder, "readOnly": true}}}},
		"volumes":    []object{{"name": "lab-ca", "configMap": object{"name": awsCAConfigMap}}},
	}
	for name, documents := range map[string][]object{
		"aws.yaml":          {configMap(awsConfigMap, data), configMap(awsCAConfigMap, object{"ca.crt": string(ca)})},
		"issuer-patch.yaml": {{"spec": object{"template": object{"spec": pod}}}},
	} {
		if err := lab.writeManifest(name, documents...); err != nil {
			return err
		}
	}
	return nil
}
