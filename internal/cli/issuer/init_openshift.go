package issuer

import (
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
	"strings"

	"github.com/tabard-dev/tabard/internal/core/platform"
)

const (
	// IssuerFile is the name of the OIDCIssuer's file.
	IssuerFile = "issuer.yaml"
	// installManifest is where OpenShift's installer takes the cluster's Authentication
	// from, below the folder of the installation. ccoctl writes the same.
	installManifest = "manifests/cluster-authentication-02-config.yaml"
)

// form is what differs between the platforms in an OIDCIssuer.
type form struct{ setting, keys, audiences string }

var (
	ofKubernetes = form{
		setting: "kube-apiserver's --service-account-issuer", keys: "    source: APIServer", audiences: "sts.amazonaws.com",
	}
	ofOpenShift = form{
		setting: `spec.serviceAccountIssuer of Authentication "cluster"`,
		keys: `    # Every key that the API servers trust.
    source: ConfigMap
    configMap:
      namespace: openshift-kube-apiserver
      name: bound-sa-token-signing-certs`,
		audiences: "openshift, sts.amazonaws.com",
	}
)

// checkPlatform fills in the place of the issuer's file.
func (p *Proposal) checkPlatform() error {
	switch p.Platform {
	case platform.OpenShift, platform.Kubernetes, "":
	default:
		return Unusable{fmt.Errorf("--platform is %.80q, expected %s or %s", p.Platform, platform.Kubernetes, platform.OpenShift)}
	}
	switch {
	case p.OutputDir == "":
		if p.File == "" {
			p.File = IssuerFile
		}
		return nil
	case p.Platform != platform.OpenShift:
		return Unusable{errors.New("--output-dir is for an installation of OpenShift: set --platform=OpenShift, or name the file with -f")}
	case p.File != "":
		return Unusable{errors.New("-f and --output-dir exclude each other: " + IssuerFile + " is written to the folder")}
	}
	p.File = filepath.Join(p.OutputDir, IssuerFile)
	return nil
}

// authentication is the manifest that gives a new cluster its issuer.
func (p *Proposal) authentication() string {
	return fmt.Sprintf(`apiVersion: config.openshift.io/v1
kind: Authentication
metadata:
  name: cluster
spec:
  serviceAccountIssuer: %s
`, p.URL)
}

// sayInstallation says what to do before and after the installer runs.
func (p *Proposal) sayInstallation(file string) {
	p.say("%s gives the new cluster its issuer: it has to be in the installer's folder manifests before", filepath.Join(p.OutputDir, installManifest))
	p.say("  openshift-install create cluster")
	p.say("as soon as its API server answers, with your own AWS session and a kubeconfig of the cluster:")
	p.sayBootstrap(file, "")
	p.say("until then AWS refuses the cluster's tokens; what needs a role during the installation waits for it")
}

// sayLiving says what to do on a cluster that runs, and what follows from it.
func (p *Proposal) sayLiving(file string) {
	p.say("next, with your own AWS session and a kubeconfig of the cluster:")
	p.sayBootstrap(file, " --allow-other-issuer")
	p.say("make every role that trusts the issuer of today trust this one too: tokens will name it")
	p.say("write the issuer of today down; an empty one is OpenShift's default, and the same patch sets it again:")
	p.say("  oc get authentication cluster -o jsonpath='{.spec.serviceAccountIssuer}'")
	p.say("then set this one:")
	p.say("  oc patch authentication cluster --type=merge -p '%s'", p.patch())
	p.say("what follows from that:")
	p.say("  every API server restarts, one after the other; wait for that with")
	p.say("    oc adm wait-for-stable-cluster")
	p.say("  all tokens are issued anew: a pod has one of the new issuer when the kubelet renews it, within 24 hours")
	p.say("  the cluster trusts tokens of the issuer of today for 24 hours more, and then refuses them")
	p.say("  so restart within these 24 hours every pod that reads its token only once, or reboot the nodes with")
	p.say("    oc adm reboot-machine-config-pool mcp/worker mcp/master")
}

func (p *Proposal) sayBootstrap(file, consent string) {
	p.say("  oc apply -f config/manifests/openshift/issuer.yaml")
	p.say("  tabard issuer bootstrap -f %s%s", file, consent)
	p.say("  oc apply -f %s", file)
}

// patch sets the issuer, for a shell's single quotes.
func (p *Proposal) patch() string {
	quoted, err := json.Marshal(p.URL)
	if err != nil {
		panic(err) // a string has a form in JSON
	}
	return `{"spec":{"serviceAccountIssuer":` + strings.ReplaceAll(string(quoted), "'", `\u0027`) + `}}`
}
