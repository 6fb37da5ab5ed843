package catalogd

import (
	"errors"
	"fmt"
	"net/url"
	"path"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/util/validation"

	model "github.com/tabard-dev/tabard/internal/core/catalogue"
	"github.com/tabard-dev/tabard/internal/core/line"
)

// serving is why a ClusterCatalog is not served; nil if it is.
func serving(item *unstructured.Unstructured) error {
	if mode, _, _ := unstructured.NestedString(item.Object, "spec", "availabilityMode"); mode == "Unavailable" { // Another type is not that.
		return errors.New("spec.availabilityMode says Unavailable, so the cluster does not serve it; who wants it back sets Available there")
	}
	conditions, _, _ := unstructured.NestedSlice(item.Object, "status", "conditions") // Another type is no condition.
	for _, condition := range conditions {
		fields, _ := condition.(map[string]any)
		text := func(name string) string { value, _ := fields[name].(string); return value }
		switch {
		case text("type") != "Serving":
		case text("status") == "True":
			return nil
		default:
			return fmt.Errorf("the cluster does not serve it: Serving is %s, reason %s, %s; look at it: kubectl get clustercatalogs -o yaml",
				model.Quoted(text("status")), model.Quoted(text("reason")), model.Quoted(line.Of(text("message"))))
		}
	}
	return errors.New("the cluster does not serve it yet: it has no condition Serving; look at it: kubectl get clustercatalogs -o yaml")
}

// place is where a catalogue is served within a cluster.
type place struct{ service, namespace, path string }

// placeOf takes status.urls.base apart. It decides about which service is asked with somebody's
// rights, so anything that catalogd does not write is refused.
func placeOf(base string) (place, error) {
	wrong := fmt.Errorf("status.urls.base is %s, expected https://SERVICE.NAMESPACE.svc/catalogs/NAME; it was not asked", model.Quoted(base))
	at, err := url.Parse(base)
	if err != nil || at.Scheme != "https" || at.User != nil || at.Port() != "" && at.Port() != "443" ||
		at.Opaque != "" || strings.ContainsAny(base, `?#%\`) {
		return place{}, wrong
	}
	parts := strings.Split(strings.TrimSuffix(at.Hostname(), ".cluster.local"), ".")
	if len(parts) != 3 || parts[2] != "svc" || validation.IsDNS1035Label(parts[0]) != nil || validation.IsDNS1123Label(parts[1]) != nil {
		return place{}, wrong
	}
	name, ok := strings.CutPrefix(at.Path, "/catalogs/")
	if !ok || name == "" || at.Path != path.Clean(at.Path) || strings.ContainsFunc(name, func(r rune) bool {
		return r <= ' ' || r >= 0x7f
	}) {
		return place{}, wrong
	}
	return place{service: parts[0], namespace: parts[1], path: at.Path}, nil
}

// proxiedService is the name of a service with TLS at an API server's proxy.
func (p place) proxiedService() string { return "https:" + p.service + ":443" }

func (p place) proxied() string {
	return "/api/v1/namespaces/" + p.namespace + "/services/" + p.proxiedService() + "/proxy" + p.path
}

// forbidden names the right that is missing, and what grants it.
func (p place) forbidden(err error) error {
	return fmt.Errorf("the right to get services/proxy of %[1]s in namespace %[2]s is missing: %[3]s. Who administers the cluster can grant it: "+
		"kubectl -n %[2]s create role catalogd-read --verb=get --resource=services/proxy --resource-name=%[1]s && "+
		"kubectl -n %[2]s create rolebinding catalogd-read --role=catalogd-read --user=NAME", p.proxiedService(), p.namespace, said(err))
}
