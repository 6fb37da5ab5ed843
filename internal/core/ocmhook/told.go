package ocmhook

// HasNoARN says that the cluster is not in EKS, as far as its Klusterlet says.
func (k Klusterlet) HasNoARN() bool { return k.hasNoARN() }

// Fault says why a Klusterlet with the driver awsirsa cannot join; empty if it can.
func (k Klusterlet) Fault() string { return k.fault() }
