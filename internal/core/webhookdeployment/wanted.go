package webhookdeployment

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"regexp"
	"sync"

	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/json"
	"k8s.io/apimachinery/pkg/util/yaml"
)

// Settings say what the webhook is made of.
type Settings struct {
	// Manifest is config/manifests/webhook.yaml.
	Manifest []byte
	// Namespace is Tabard's own: that of the manifest's Deployment.
	Namespace string
	// Image is the webhook's; empty means that of the manifest.
	Image string
	// Region is the webhook's --aws-default-region; empty for none.
	Region string
}

// Object is one of Kubernetes, as JSON has it.
type Object = map[string]any

// ID names an object.
type ID struct{ Kind, Namespace, Name string }

// String is KIND NAMESPACE/NAME.
func (id ID) String() string {
	if id.Namespace == "" {
		return id.Kind + " " + id.Name
	}
	return id.Kind + " " + id.Namespace + "/" + id.Name
}

// Kinds that are kept. ServiceAccounts, Roles and bindings of the manifest are not
// among them: who keeps those could give rights away.
const (
	Deployment    = "Deployment"
	Service       = "Service"
	Budget        = "PodDisruptionBudget"
	Configuration = "MutatingWebhookConfiguration"
)

// Wanted are the objects that are kept, in the order in which they are made: the hooks
// last, so that the API server calls no Service that is not there.
type Wanted struct {
	Namespace string
	IDs       []ID
	objects   map[ID]Object
}

// image and region are what the settings may be.
var (
	image  = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^[a-zA-Z0-9./_:-]+(:[\w.-]+|@sha256:[0-9a-f]{64})$`) })
	region = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^[a-z]{2,}(-[a-z]+)+-[0-9]+$`) })
)

// Check says what is wrong with what is not the manifest.
func (s Settings) Check() error {
	if s.Region != "" && !region().MatchString(s.Region) {
		return fmt.Errorf("--webhookdeployment-region is %q, expected a region of AWS, such as us-west-2", s.Region)
	}
	if s.Image != "" && !image().MatchString(s.Image) {
		return fmt.Errorf("--webhookdeployment-image is %q, expected REPOSITORY:TAG or REPOSITORY@DIGEST", s.Image)
	}
	return nil
}

// Want reads the manifest, and puts the settings in.
func Want(s Settings) (Wanted, error) {
	if err := s.Check(); err != nil {
		return Wanted{}, err
	}
	w := Wanted{Namespace: s.Namespace, objects: map[ID]Object{}}
	reader := yaml.NewYAMLReader(bufio.NewReader(bytes.NewReader(s.Manifest)))
	for {
		text, err := reader.Read()
		if errors.Is(err, io.EOF) {
			return w, w.complete()
		}
		if err != nil {
			return Wanted{}, fmt.Errorf("read the webhook's manifest: %w", err)
		}
		if err := w.add(text, s); err != nil {
			return Wanted{}, err
		}
	}
}

// add takes one document of the manifest in, if its kind is kept.
func (w *Wanted) add(text []byte, s Settings) error {
	text, err := yaml.ToJSON(text)
	if err != nil {
		return fmt.Errorf("read the webhook's manifest: %w", err)
	}
	object := Object{}
	if err := json.Unmarshal(text, &object); err != nil {
		return fmt.Errorf("read the webhook's manifest: %w", err)
	}
	id := idOf(object)
	switch id.Kind {
	case Deployment:
		fillDeployment(object, s)
	case Service:
		at(object, "spec")["type"] = "ClusterIP"
		for _, port := range items(at(object, "spec"), "ports") {
			port["protocol"] = "TCP"
		}
	case Configuration:
		for _, hook := range items(object, "webhooks") {
			at(hook, "objectSelector")
		}
	case Budget:
	default:
		return nil
	}
	if id.Namespace != "" && id.Namespace != s.Namespace {
		return fmt.Errorf("%s is not in Tabard's namespace %s: --namespace and the manifest differ", id, s.Namespace)
	}
	w.IDs = append(w.IDs, id)
	w.objects[id] = object
	return nil
}

// complete says that each kind is there.
func (w *Wanted) complete() error {
	seen := map[string]bool{}
	for _, id := range w.IDs {
		seen[id.Kind] = true
	}
	for _, kind := range []string{Deployment, Service, Budget, Configuration} {
		if !seen[kind] {
			return fmt.Errorf("the webhook's manifest has no %s", kind)
		}
	}
	return nil
}

// fillDeployment puts the settings in, and what the API server fills in of fields that
// are compared whole.
func fillDeployment(object Object, s Settings) {
	pod := at(object, "spec", "template", "spec")
	for _, container := range items(pod, "containers") {
		if s.Image != "" {
			container["image"] = s.Image
		}
		if s.Region != "" {
			args, _ := container["args"].([]any)
			container["args"] = append(args, "--aws-default-region="+s.Region)
		}
		for _, name := range []string{"livenessProbe", "readinessProbe"} {
			probe := at(container, name)
			at(probe, "httpGet")["scheme"] = "HTTP"
			for field, value := range map[string]int64{"timeoutSeconds": 1, "periodSeconds": 10, "successThreshold": 1, "failureThreshold": 3} {
				probe[field] = value
			}
		}
	}
}

// For is what is wanted of an object in a cluster; nil where it shall not be.
func (w Wanted) For(id ID, p Platform) Object {
	object := runtime.DeepCopyJSON(w.objects[id])
	single := p.InfrastructureTopology == SingleReplica
	switch {
	case single && id.Kind == Budget:
		return nil
	case single && id.Kind == Deployment:
		at(object, "spec")["replicas"] = int64(1)
	}
	return object
}
