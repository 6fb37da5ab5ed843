package lab

import (
	"fmt"
	"os"

	"sigs.k8s.io/yaml"
)

const (
	// awsConfigMap and awsCAConfigMap tell pods of the local AWS.
	awsConfigMap   = "tabard-lab-aws"
	awsCAConfigMap = "tabard-lab-aws-ca"
	// awsCAFolder is where pods mount the CA.
	awsCAFolder = "/etc/tabard-lab"
)

// podVariables are what tells a program in a pod of the local AWS.
func (lab Lab) podVariables() []Variable {
	return []Variable{
		{"AWS_ENDPOINT_URL", lab.AWSURL()},
		// The SDK for Go needs it for web identity.
		{"AWS_ENDPOINT_URL_STS", lab.AWSURL()},
		{"AWS_CA_BUNDLE", awsCAFolder + "/ca.crt"},
		{"AWS_REGION", Region},
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
	data, variables := object{}, []object{}
	for _, variable := range lab.podVariables() {
		data[variable.Name] = variable.Value
		if variable.Name != "AWS_REGION" { // the issuer's own ConfigMap names it
			variables = append(variables, object{"name": variable.Name, "value": variable.Value})
		}
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

// writeManifest writes a file of DIR/manifests.
func (lab Lab) writeManifest(name string, documents ...object) error {
	var out []byte
	for _, document := range documents {
		text, err := yaml.Marshal(document)
		if err != nil {
			return fmt.Errorf("write %s: %w", name, err)
		}
		out = append(append(out, "---\n"...), text...)
	}
	return writeFile(lab.Path("manifests", name), out)
}
