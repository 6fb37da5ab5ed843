package testkit

import (
	"bytes"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"text/template"

	"github.com/tabard-dev/tabard/internal/testkit/must"
)

// ForeignKinds are kinds of another project: files of one of its modules, which
// the module proxy holds. They are not copied here, so that what is tested against
// is what is shipped.
type ForeignKinds struct {
	module, version, sum string
	files                []string
	// values are those of files that are templates, as Open Cluster Management's
	// operator fills them in; nil for files that are used as they are.
	values map[string]string
}

// The kinds that Tabard watches and does not own.
var (
	// MachineAPI is OpenShift's MachineSet.
	MachineAPI = openshift("machine/v1beta1/zz_generated.crd-manifests/0000_10_machine-api_01_machinesets-Default.crd.yaml")
	// MachineAPIMigration is the MachineSet of clusters whose machines can move
	// between the two machine APIs; it takes the place of MachineAPI.
	MachineAPIMigration = openshift("machine/v1beta1/zz_generated.crd-manifests/0000_10_machine-api_01_machinesets-CustomNoUpgrade.crd.yaml")
	// OpenShiftConfig is OpenShift's Infrastructure.
	OpenShiftConfig = openshift("config/v1/zz_generated.crd-manifests/0000_10_config-operator_01_infrastructures-Default.crd.yaml")
	// OpenShiftCredentials are OpenShift's Authentication and CloudCredential.
	OpenShiftCredentials = openshift(
		"config/v1/zz_generated.crd-manifests/0000_10_config-operator_01_authentications.crd.yaml",
		"operator/v1/zz_generated.crd-manifests/0000_40_cloud-credential_00_cloudcredentials.crd.yaml",
	)
	// OpenShiftOperators is OpenShift's ClusterOperator.
	OpenShiftOperators = openshift("config/v1/zz_generated.crd-manifests/0000_00_cluster-version-operator_01_clusteroperators.crd.yaml")
	// OpenShiftSettings are OpenShift's APIServer and Proxy, for which the Operator Lifecycle
	// Manager waits where any kind of config.openshift.io is served.
	OpenShiftSettings = openshift(
		"config/v1/zz_generated.crd-manifests/0000_03_config-operator_01_proxies.crd.yaml",
		"config/v1/zz_generated.crd-manifests/0000_10_config-operator_01_apiservers-Default.crd.yaml",
	)
	// OLM are the kinds of the Operator Lifecycle Manager, of the version of test/olm/go.mod.
	OLM = ForeignKinds{
		module: "github.com/operator-framework/api", version: "v0.45.0", sum: "h1:hkROwtsLH3oszp4IW+WsXEFSDgveSahHI7DKStOtrUI=",
		files: []string{
			"crds/operators.coreos.com_catalogsources.yaml", "crds/operators.coreos.com_clusterserviceversions.yaml",
			"crds/operators.coreos.com_installplans.yaml", "crds/operators.coreos.com_olmconfigs.yaml",
			"crds/operators.coreos.com_operatorconditions.yaml", "crds/operators.coreos.com_operatorgroups.yaml",
			"crds/operators.coreos.com_operators.yaml", "crds/operators.coreos.com_subscriptions.yaml",
		},
	}
	// ClusterAPI is Cluster API's Cluster, MachineDeployment and MachineSet.
	ClusterAPI = ForeignKinds{
		module: "sigs.k8s.io/cluster-api", version: "v1.11.3", sum: "h1:apxfugbP1X8AG7THCM74CTarCOW4H2oOc6hlbm1hY80=",
		files: []string{
			"config/crd/bases/cluster.x-k8s.io_clusters.yaml", "config/crd/bases/cluster.x-k8s.io_machinedeployments.yaml",
			"config/crd/bases/cluster.x-k8s.io_machinesets.yaml",
		},
	}
	// ClusterAPIAWS are the kinds of Cluster API's provider for AWS that say of
	// which type and where machines are.
	ClusterAPIAWS = ForeignKinds{
		module: "sigs.k8s.io/cluster-api-provider-aws/v2", version: "v2.13.0", sum: "h1:yQz7GBrIkPLuEJ5MXNuZ/6eUssTJK8reUnZ6t5QIPnU=",
		files: []string{
			"config/crd/bases/infrastructure.cluster.x-k8s.io_awsclusters.yaml",
			"config/crd/bases/infrastructure.cluster.x-k8s.io_awsmachinetemplates.yaml",
			"config/crd/bases/controlplane.cluster.x-k8s.io_awsmanagedcontrolplanes.yaml",
			"config/crd/bases/controlplane.cluster.x-k8s.io_rosacontrolplanes.yaml",
		},
	}
	// OCMOperators are Open Cluster Management's ClusterManager and Klusterlet.
	OCMOperators = ocm(
		"deploy/cluster-manager/config/crds/0000_01_operator.open-cluster-management.io_clustermanagers.crd.yaml",
		"deploy/klusterlet/config/crds/0000_00_operator.open-cluster-management.io_klusterlets.crd.yaml",
	)
	// OCMHub are the kinds that Open Cluster Management's operator installs on a hub.
	OCMHub = ocm(
		"manifests/cluster-manager/hub/crds/0000_00_clusters.open-cluster-management.io_managedclusters.crd.yaml",
		"manifests/cluster-manager/hub/crds/0000_00_clusters.open-cluster-management.io_managedclustersets.crd.yaml",
		"manifests/cluster-manager/hub/crds/0000_01_clusters.open-cluster-management.io_managedclustersetbindings.crd.yaml",
		"manifests/cluster-manager/hub/crds/0000_00_work.open-cluster-management.io_manifestworks.crd.yaml",
		"manifests/cluster-manager/hub/crds/0000_00_addon.open-cluster-management.io_clustermanagementaddons.crd.yaml",
		"manifests/cluster-manager/hub/crds/0000_01_addon.open-cluster-management.io_managedclusteraddons.crd.yaml",
		"manifests/cluster-manager/hub/crds/0000_00_multicluster.x-k8s.io_clusterprofiles.crd.yaml",
	)
	// OCMSpoke are the kinds that it installs on a cluster that joins a hub.
	OCMSpoke = ocm(
		"manifests/klusterlet/managed/0000_01_work.open-cluster-management.io_appliedmanifestworks.crd.yaml",
		"manifests/klusterlet/managed/0000_02_clusters.open-cluster-management.io_clusterclaims.crd.yaml",
	)
)

// ocm are kinds of Open Cluster Management, of the version of test/ocm/go.mod. Those of
// add-ons name a webhook that converts them. No API server here reaches it, and none needs
// it: what is stored is the version that is asked for. No authority is named for it,
// because an API server serves no kind whose authority is no certificate.
func ocm(files ...string) ForeignKinds {
	return ForeignKinds{
		module: "open-cluster-management.io/ocm", version: "v1.2.1", sum: "h1:JC1mrIkaNjJ+AmLjiQ/sIhUE6Uzb3JVXFlFbaZF5+VY=", files: files,
		values: map[string]string{"AddonAPIServiceCABundle": "", "ClusterManagerNamespace": "open-cluster-management-hub"},
	}
}

func openshift(files ...string) ForeignKinds {
	return ForeignKinds{
		module: "github.com/openshift/api", version: "v0.0.0-20251015095338-264e80a2b6e7", sum: "h1:Ot2fbEEPmF3WlPQkyEW/bUCV38GMugH/UmZvxpWceNc=", files: files,
	}
}

// InstallForeign installs kinds of other projects and waits until they are served.
func (s *APIServer) InstallForeign(t testing.TB, kinds ...ForeignKinds) {
	t.Helper()
	var paths []string
	for _, each := range kinds {
		paths = append(paths, each.Files(t)...)
	}
	s.InstallCRDsFrom(t, paths...)
}

// Files are those of the kinds: in the module's folder, or in one of the test with what
// templates become.
func (k ForeignKinds) Files(t testing.TB) (paths []string) {
	t.Helper()
	dir := k.Dir(t)
	for _, file := range k.files {
		paths = append(paths, k.filled(t, filepath.Join(dir, file)))
	}
	return paths
}

// filled is the path of what a file becomes with the values of the kinds.
func (k ForeignKinds) filled(t testing.TB, path string) string {
	t.Helper()
	if k.values == nil {
		return path
	}
	parsed := must.Get(template.New(filepath.Base(path)).Option("missingkey=error").ParseFiles(path))(t)
	var text bytes.Buffer
	must.Do(t, parsed.Execute(&text, k.values))
	written := filepath.Join(t.TempDir(), filepath.Base(path))
	must.Do(t, os.WriteFile(written, text.Bytes(), 0o600))
	return written
}

// Dir is the module's folder, which is fetched if it is not there.
func (k ForeignKinds) Dir(t testing.TB) string {
	t.Helper()
	command := exec.CommandContext(t.Context(), "go", "mod", "download", "-json", k.module+"@"+k.version)
	command.Dir = t.TempDir() // outside of any module, whose requirements it would join
	text, err := command.Output()
	var got struct{ Dir, Sum, Error string }
	if decodeErr := json.Unmarshal(text, &got); decodeErr != nil || err != nil || got.Error != "" {
		t.Fatalf("fetch %s@%s: %v %s", k.module, k.version, err, got.Error)
	}
	if got.Sum != k.sum {
		t.Fatalf("%s@%s is %s, want %s", k.module, k.version, got.Sum, k.sum)
	}
	return got.Dir
}
