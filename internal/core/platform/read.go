package platform

import "time"

// Kind is what the flag platform says.
type Kind string

// The kinds.
const (
	Auto       Kind = "Auto"
	OpenShift  Kind = "OpenShift"
	Kubernetes Kind = "Kubernetes"
)

// Kinds are all of them.
func Kinds() []Kind { return []Kind{Auto, OpenShift, Kubernetes} }

// Presence is what the flag cloud-credential-operator says.
type Presence string

// The presences.
const (
	Detect  Presence = "auto"
	Present Presence = "present"
	Absent  Presence = "absent"
)

// Presences are all of them.
func Presences() []Presence { return []Presence{Detect, Present, Absent} }

// Override is what an administrator says of the cluster. The zero value says nothing.
type Override struct {
	// Platform is Auto, or what the cluster is whatever it serves. Empty is Auto.
	Platform Kind
	// Operator is auto, or whether a Cloud Credential Operator is there whatever is seen.
	// Empty is auto.
	Operator Presence
	// Infrastructure and Region are those of plain Kubernetes, where no object says them.
	Infrastructure, Region string
}

// Read says what the cluster is by what was read of it at a time.
func Read(objects Objects, override Override, now time.Time) Facts {
	facts := Facts{
		OpenShift:      override.Platform == OpenShift || override.Platform != Kubernetes && objects.Config == Served,
		ClusterOwnsCRD: objects.Config != NotServed,
		Infrastructure: override.Infrastructure, Region: override.Region,
		Operator: operatorOf(objects, override, now),
	}
	if override.Platform == Kubernetes || !facts.OpenShift && objects.Config == NotServed {
		facts.Issuer = objects.Issuer
	}
	facts.Mode, facts.ModeWhy = modeOf(objects.CloudCredential, objects.Legacy)
	if override.Platform == Kubernetes {
		return facts
	}
	switch {
	case objects.Config == Unclear:
		facts.Infrastructure, facts.Region = "", ""
		facts.Missing = append(facts.Missing, "whether config.openshift.io is served is not known: "+objects.ConfigWhy)
	case objects.Config == NotServed && override.Platform == OpenShift:
		facts.Infrastructure, facts.Region = "", ""
		facts.Missing = append(facts.Missing, "--"+PlatformFlag+"=OpenShift is set, and the API server does not serve config.openshift.io")
	case facts.OpenShift:
		facts.readInfrastructure(objects.Infrastructure)
		facts.readIssuer(objects.Authentication)
	}
	return facts
}

// readInfrastructure takes what Infrastructure says, and nothing of it if any of it
// cannot be read: half a name would be another cluster's.
func (f *Facts) readInfrastructure(seen Seen) {
	f.Infrastructure, f.Region = "", ""
	if seen.Object == nil {
		f.Missing = append(f.Missing, infrastructure.missing(seen))
		return
	}
	o := opened{object: seen.Object}
	cloud := o.text("status", "platformStatus", "type")
	if cloud == "" {
		cloud = o.text("status", "platform")
	}
	name := o.text("status", "infrastructureName")
	control, nodes := o.text("status", "controlPlaneTopology"), o.text("status", "infrastructureTopology")
	var region, domain string
	var tags map[string]string
	switch Cloud(cloud) {
	case AWS:
		region = o.text("status", "platformStatus", "aws", "region")
		tags = o.pairs("key", "value", "status", "platformStatus", "aws", "resourceTags")
	case GCP:
		region = o.text("status", "platformStatus", "gcp", "region")
		domain = o.text("status", "platformStatus", "gcp", "universeDomain")
	}
	if cloud == "" {
		o.fail("status.platformStatus.type is not set")
	}
	if name == "" {
		o.fail("status.infrastructureName is not set")
	}
	if o.wrong != "" {
		f.Missing = append(f.Missing, infrastructure.String()+": "+o.wrong)
		return
	}
	f.Cloud, f.Infrastructure, f.Region = Cloud(cloud), name, region
	f.ControlPlaneTopology, f.InfrastructureTopology = control, nodes
	f.ResourceTags, f.UniverseDomain = tags, domain
}

func (f *Facts) readIssuer(seen Seen) {
	if seen.Object == nil {
		f.Missing = append(f.Missing, authentication.missing(seen))
		return
	}
	o := opened{object: seen.Object}
	issuer := o.text("spec", "serviceAccountIssuer")
	if o.wrong != "" {
		f.Missing = append(f.Missing, authentication.String()+": "+o.wrong)
		return
	}
	f.Issuer = issuer
}
