package ocmhook

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/tabard-dev/tabard/internal/core/hub"
)

// awsFlags are the hub controller's flags that are of the driver awsirsa alone. The last is the
// requirement's.
var awsFlags = []string{"--hub-cluster-arn", "--auto-approved-arn-patterns", "--aws-resource-tags", hub.DisableFlag}

// gatesFlag has the feature gates of one of their programs.
const gatesFlag = "--feature-gates"

// admitController takes the driver awsirsa from a hub controller. Where that leaves no other
// driver, it is csr, as without the flag. Whoever was accepted by the driver's patterns is not
// accepted by csr instead, which accepts everybody: so the gate for that goes, too.
func admitController(number int, args arguments) Decision {
	wanted := args.without(awsFlags...)
	var d Decision
	if drivers, _ := args.value(hub.DriversFlag); slices.Contains(strings.Split(drivers, ","), hub.DriverAWS) {
		kept := slices.DeleteFunc(strings.Split(drivers, ","), func(name string) bool { return name == hub.DriverAWS })
		if len(kept) == 0 {
			kept = []string{"csr"}
		}
		wanted = append(ungated(wanted.without(hub.DriversFlag)), hub.DriversFlag+"="+strings.Join(kept, ","))
		d.Warnings = []string{"the driver awsirsa is left out: Tabard's controller hubaccess is in its place, and clusters are accepted by hand"}
	}
	if !slices.Equal(wanted, args) {
		d.add("replace", containerPath(number, "args"), []string(wanted))
	}
	return d
}

// ungated leaves the gate for acceptance out.
func ungated(args arguments) (kept arguments) {
	for _, each := range args {
		name, value, _ := strings.Cut(each, "=")
		if name != gatesFlag {
			kept = append(kept, each)
			continue
		}
		gates := slices.DeleteFunc(strings.Split(value, ","), func(gate string) bool {
			of, _, _ := strings.Cut(gate, "=")
			return strings.TrimSpace(of) == hub.AutoApproval
		})
		if len(gates) > 0 {
			kept = append(kept, gatesFlag+"="+strings.Join(gates, ","))
		}
	}
	return kept
}

// ClusterManager is what matters of one.
type ClusterManager struct {
	Name string
	// Namespace is where its hub controller runs.
	Namespace string
	// ManagedIAMOff says that its driver awsirsa has disableManagedIam.
	ManagedIAMOff bool
}

// ReadClusterManager reads a ClusterManager as JSON. A hosted hub's controller runs in the
// namespace of its name (Open Cluster Management v1.2.1, pkg/operator/helpers:
// ClusterManagerNamespace).
func ReadClusterManager(text []byte) (ClusterManager, error) {
	var read struct {
		Metadata struct {
			Name string `json:"name"`
		} `json:"metadata"`
		Spec struct {
			DeployOption struct {
				Mode string `json:"mode"`
			} `json:"deployOption"`
			RegistrationConfiguration struct {
				RegistrationDrivers []struct {
					AuthType string `json:"authType"`
					AWSIRSA  struct {
						DisableManagedIAM bool `json:"disableManagedIam"`
					} `json:"awsirsa"`
				} `json:"registrationDrivers"`
			} `json:"registrationConfiguration"`
		} `json:"spec"`
	}
	if err := json.Unmarshal(text, &read); err != nil {
		return ClusterManager{}, fmt.Errorf("the ClusterManager cannot be read: %w", err)
	}
	m := ClusterManager{Name: read.Metadata.Name, Namespace: hub.ControllerNamespace}
	if strings.HasSuffix(read.Spec.DeployOption.Mode, "Hosted") {
		m.Namespace = m.Name
	}
	for _, driver := range read.Spec.RegistrationConfiguration.RegistrationDrivers {
		if driver.AuthType == hub.DriverAWS && driver.AWSIRSA.DisableManagedIAM {
			m.ManagedIAMOff = true
		}
	}
	return m, nil
}
