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

// ClusterManager is what the ClusterManager says that concerns AWS identity.
type ClusterManager struct {
	// Trouble says why it could not be read; empty for none. Then nothing else is known.
	Trouble string
	// HasField says that the served schema has the field disableManagedIam: otherwise
	// the API server drops it, and its absence says nothing.
	HasField bool
	// Drivers are its registration drivers.
	Drivers []Driver
}

// Driver is a registration driver of the ClusterManager.
type Driver struct {
	// AuthType is such as csr or awsirsa.
	AuthType string
	// HubARN is awsirsa.hubClusterArn, empty for none.
	HubARN string
	// DisableManagedIAM is awsirsa.disableManagedIam.
	DisableManagedIAM bool
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

// Decide is the setting by the program's own flags and the ClusterManager. The flag for
// managed IAM is On, Off or empty. Either can switch it off; neither can switch it on
// where Open Cluster Management's driver acts, because two programs would make and remove
// the same roles.
func Decide(flag Switch, hubARN string, seen ClusterManager) Setting {
	var out Setting
	driver, listed := awsDriver(seen.Drivers)
	switch {
	case flag == Off:
		out.IAM, out.Why = Off, "it is switched off by the flag --hubaccess-managed-iam"
	case seen.Trouble != "":
		out.IAM, out.Why = Unknown, "the ClusterManager could not be read: "+seen.Trouble
	case listed && driver.DisableManagedIAM:
		out.IAM, out.Why = Off, "disableManagedIam is set in the ClusterManager"
	case listed:
		out.IAM, out.ByOCM, out.Why = Off, true, "the ClusterManager lists the driver "+DriverAWS+", which makes and removes roles and access entries itself"
	case flag == On:
		out.IAM, out.Why = On, "it is switched on by the flag --hubaccess-managed-iam"
	case seen.HasField:
		out.IAM, out.Why = On, "disableManagedIam is not set in the ClusterManager"
	default:
		out.IAM, out.Why = Unknown, "the served schema of ClusterManager has no field disableManagedIam, so its absence says nothing; set the flag --hubaccess-managed-iam"
	}
	out.Hub, out.HubProblem = whichHub(hubARN, driver.HubARN)
	return out
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
