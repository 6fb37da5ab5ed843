package hub

import (
	"fmt"
	"regexp"
)

var theirARN = regexp.MustCompile(theirPattern)

// FieldsInUse says what an object of Open Cluster Management's, a ClusterManager or a Klusterlet,
// says that its definition as they release it has no place for. Where the fields were taken out,
// the API server would drop it silently, or refuse every change of the object.
func FieldsInUse(object map[string]any) []string {
	registration, _ := at(object, []string{"spec", "registrationConfiguration"})
	configuration, _ := registration.(map[string]any)
	var out []string
	drivers, _ := configuration["registrationDrivers"].([]any)
	for _, each := range drivers {
		driver, _ := each.(map[string]any)
		aws, _ := driver["awsirsa"].(map[string]any)
		if aws["disableManagedIam"] == true {
			out = append(out, "awsirsa.disableManagedIam is true")
		}
		out = append(out, wide("awsirsa.hubClusterArn", aws["hubClusterArn"])...)
	}
	driver, _ := configuration["registrationDriver"].(map[string]any)
	if aws, is := driver["awsIrsa"].(map[string]any); is {
		if secret, _ := aws["iamConfigSecret"].(string); secret != "" {
			out = append(out, "awsIrsa.iamConfigSecret is "+quoted(secret))
		}
		if arn, _ := aws["managedClusterArn"].(string); arn == "" {
			out = append(out, "awsIrsa.managedClusterArn is empty")
		}
		out = append(append(out, wide("awsIrsa.hubClusterArn", aws["hubClusterArn"])...), wide("awsIrsa.managedClusterArn", aws["managedClusterArn"])...)
	}
	return out
}

// wide says that an ARN is one that the released definition does not admit.
func wide(field string, value any) []string {
	if arn, _ := value.(string); arn != "" && !theirARN.MatchString(arn) {
		return []string{fmt.Sprintf("%s is %s", field, quoted(arn))}
	}
	return nil
}
