package hub

// Switch says whether roles and access entries are made and removed by a program.
type Switch string

const (
	// On is that they are.
	On Switch = "On"
	// Off is that people make them.
	Off Switch = "Off"
	// Unknown is that it could not be learned. Nothing is done then, as with Off.
	Unknown Switch = "Unknown"
)

// DriverAWS is the authType of Open Cluster Management's driver for AWS identity.
const DriverAWS = "awsirsa"

// FieldsAnnotation is on the definition of ClusterManager when "tabard hub fields" has added
// the field disableManagedIam. Where it is there and the field is not, something took the
// field away since, and with it what an administrator had switched off.
const FieldsAnnotation = "tabard.dev/hub-fields"

// RestoredAnnotation is on the definition of ClusterManager when "tabard hub fields" has put the
// field back: what a ClusterManager said in it was dropped in between. It counts until the
// ClusterManager says true or false again.
const RestoredAnnotation = "tabard.dev/hub-fields-restored"

// FieldsCommand adds the fields.
const FieldsCommand = "tabard hub fields --apply"

// ClusterManager is what the ClusterManager and the pods of its hub controller say that
// concerns AWS identity.
type ClusterManager struct {
	// Trouble says why it could not be read; empty for none. Then nothing else is known.
	Trouble string
	// HasField says that the served schema has the field disableManagedIam: otherwise
	// the API server drops it, and its absence says nothing. HadField says that it had it.
	HasField, HadField bool
	// Restored says that the field was taken away and put back.
	Restored bool
	// Drivers are its registration drivers.
	Drivers []Driver
	// Pods are those in the namespace of the hub controller that have not ended.
	Pods []Pod
	// PodTrouble says why the pods could not be read; empty for none. Then Pods are none.
	PodTrouble string
}

// Driver is a registration driver of the ClusterManager.
type Driver struct {
	// AuthType is such as csr or awsirsa.
	AuthType string
	// HubARN is awsirsa.hubClusterArn, empty for none.
	HubARN string
	// DisableManagedIAM is awsirsa.disableManagedIam, Stated that the field is there.
	DisableManagedIAM, Stated bool
}

// Setting is what the program that makes roles and access entries has to go by.
type Setting struct {
	// IAM is On where it may act.
	IAM Switch
	// Why says why IAM is what it is, for people.
	Why string
	// ByOCM says that Open Cluster Management's own driver makes them.
	ByOCM bool
	// Hub is the hub; none if it is not known, and HubProblem says why.
	Hub        ARN
	HubProblem string
}

// Decide is the setting by the program's own flags, the ClusterManager and what runs. The flag
// for managed IAM is On, Off or empty. Either can switch it off. Neither can switch it on where
// Open Cluster Management's hub controller acts, or may act, because two programs would make
// and remove the same roles. What runs counts, and not what the ClusterManager lists: released
// versions of theirs act with disableManagedIam as without, and do not act where their driver
// was taken out of the pod.
func Decide(flag Switch, hubARN string, seen ClusterManager) Setting {
	driver, listed := awsDriver(seen.Drivers)
	out := decide(flag, seen, listed, driver)
	out.Hub, out.HubProblem = whichHub(hubARN, driver.HubARN)
	return out
}

func decide(flag Switch, seen ClusterManager, listed bool, driver Driver) Setting {
	disabled := driver.DisableManagedIAM
	runs, pod := busiest(seen.Pods)
	switch {
	case flag == Off:
		return Setting{IAM: Off, Why: "it is switched off by the flag --hubaccess-managed-iam"}
	case seen.Trouble != "":
		return Setting{IAM: Unknown, Why: "the ClusterManager could not be read: " + seen.Trouble}
	case runs == Acting && disabled:
		return Setting{IAM: Off, ByOCM: true, Why: "disableManagedIam is set in the ClusterManager, and the pod " + pod + " of its hub controller runs with the driver " + DriverAWS + " without " + DisableFlag + ", so it makes and removes roles and access entries all the same: take the driver out of the ClusterManager"}
	case runs == Acting:
		return Setting{IAM: Off, ByOCM: true, Why: "the pod " + pod + " of the hub controller runs with the driver " + DriverAWS + ", which makes and removes roles and access entries itself"}
	case disabled:
		return Setting{IAM: Off, Why: "disableManagedIam is set in the ClusterManager"}
	case seen.HadField && !seen.HasField:
		return Setting{IAM: Unknown, Why: "the field disableManagedIam was taken out of the schema of ClusterManager, as an upgrade of Open Cluster Management does, so what was switched off is not known; put it back: " + FieldsCommand}
	case seen.Restored && listed && !driver.Stated:
		return Setting{IAM: Unknown, Why: "the field disableManagedIam was taken out of the schema of ClusterManager and put back, so what the ClusterManager said in it is lost; set disableManagedIam of the driver " + DriverAWS + " to true or false"}
	case seen.PodTrouble != "":
		return Setting{IAM: Unknown, Why: "it could not be read whether the hub controller makes roles itself: " + seen.PodTrouble}
	case runs == Unclear:
		return Setting{IAM: Unknown, Why: "the pod " + pod + " names the driver " + DriverAWS + " or a variable where it cannot be read whether it makes roles itself"}
	case listed && runs == NoController:
		return Setting{IAM: Unknown, Why: "the ClusterManager lists the driver " + DriverAWS + ", and no pod of its hub controller is in the namespace " + ControllerNamespace + ", so whether it makes roles itself cannot be read"}
	case flag == On:
		return Setting{IAM: On, Why: "it is switched on by the flag --hubaccess-managed-iam"}
	case seen.HasField:
		return Setting{IAM: On, Why: "disableManagedIam is not set in the ClusterManager"}
	}
	return Setting{IAM: Unknown, Why: "the served schema of ClusterManager has no field disableManagedIam, so its absence says nothing; add it by " + FieldsCommand + ", or set the flag --hubaccess-managed-iam"}
}

func awsDriver(drivers []Driver) (Driver, bool) {
	for _, driver := range drivers {
		if driver.AuthType == DriverAWS {
			return driver, true
		}
	}
	return Driver{}, false
}

// whichHub is the hub by the flag and by the ClusterManager, which must not differ.
func whichHub(flag, stated string) (ARN, string) {
	text := flag
	switch {
	case flag == "" && stated == "":
		return ARN{}, "the ARN of the hub is required for managed IAM: set the flag --hubaccess-hub-cluster-arn"
	case flag == "":
		text = stated
	case stated != "" && stated != flag:
		return ARN{}, "the flag --hubaccess-hub-cluster-arn is " + quoted(flag) + ", and the ClusterManager says " + quoted(stated) + ": correct one of both"
	}
	hub, err := ParseARN(text)
	if err != nil {
		return ARN{}, "the ARN of the hub: " + err.Error()
	}
	return hub, ""
}
