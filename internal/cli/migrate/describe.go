package migrate

import (
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/yaml"

	"github.com/tabard-dev/tabard/internal/cli/command"
	"github.com/tabard-dev/tabard/roleselector/carm"
)

const describeHelp = `  controllers:
  - name: ack-s3                # any; default: the alias
    alias: s3                   # in keys such as s3.111122223333
    group: s3.services.k8s.aws  # of its kinds
    account: "111122223333"     # of the role that it runs as
    systemNamespace: ack-system # of its config maps; this is the default
    region: eu-west-1
    endpoint: https://s3.example.com
    deletionPolicy: retain
    watchNamespaces: [team-a, team-b]
    enableCARM: true
    featureGates: {TeamLevelCARM: true, ServiceLevelCARM: true}
    kinds: [v1alpha1/Bucket]    # beside those of the CRDs that are read

or by flags, as in --controller alias=s3,group=s3.services.k8s.aws,account=111122223333,gates=TeamLevelCARM+ServiceLevelCARM,watch=team-a+team-b
(keys: name, alias, group, account, system-namespace, region, endpoint, deletion-policy, watch, enable-carm, gates, kinds).`

// The feature gates that matter here.
const (
	gateSelectors = "IAMRoleSelector"
	gateTeam      = "TeamLevelCARM"
	gateService   = "ServiceLevelCARM"
)

// description is one controller as a person, or its Deployment, tells.
type description struct {
	Name            string          `json:"name,omitempty"`
	Alias           string          `json:"alias"`
	Group           string          `json:"group,omitempty"`
	Account         string          `json:"account,omitempty"`
	SystemNamespace string          `json:"systemNamespace,omitempty"`
	Region          string          `json:"region,omitempty"`
	Endpoint        string          `json:"endpoint,omitempty"`
	DeletionPolicy  string          `json:"deletionPolicy,omitempty"`
	WatchNamespaces []string        `json:"watchNamespaces,omitempty"`
	EnableCARM      *bool           `json:"enableCARM,omitempty"`
	FeatureGates    map[string]bool `json:"featureGates,omitempty"`
	Kinds           []string        `json:"kinds,omitempty"`
}

// descriptions is the file of controllers.
type descriptions struct {
	Controllers []description `json:"controllers"`
}

// described are the controllers that flags and file describe; none if they have
// to be found.
func (in *inputs) described(stdin io.Reader) ([]description, error) {
	var all descriptions
	if in.controllersFile != "" {
		file := command.File{By: "--controllers-file", Path: in.controllersFile, Expected: "the key controllers with a list, in YAML; see tabard migrate carm --help"}
		text, err := file.Read(stdin)
		if err != nil {
			return nil, err
		}
		if err := yaml.UnmarshalStrict(text, &all); err != nil {
			return nil, file.Refuse(fmt.Errorf("it does not describe controllers: %s", command.Cause(err)))
		}
		if len(all.Controllers) == 0 {
			return nil, file.Refuse(errors.New("it describes no controller"))
		}
	}
	for _, text := range in.controllers {
		one, err := parseController(text)
		if err != nil {
			return nil, fmt.Errorf("--controller %s: %w", text, err)
		}
		all.Controllers = append(all.Controllers, one)
	}
	for _, one := range all.Controllers {
		if err := one.check(); err != nil {
			return nil, fmt.Errorf("controller %s: %w", one.Alias, err)
		}
	}
	return all.Controllers, nil
}

// check refuses what would be passed over in silence.
func (d *description) check() error {
	for gate := range d.FeatureGates {
		if gate != gateSelectors && gate != gateTeam && gate != gateService {
			return fmt.Errorf("the gate %q is not known here; expected %s, %s or %s", gate, gateTeam, gateService, gateSelectors)
		}
	}
	if d.FeatureGates[gateSelectors] && (d.EnableCARM == nil || *d.EnableCARM) {
		return fmt.Errorf("it cannot start with the gate %s and enable-carm both on", gateSelectors)
	}
	for _, kind := range d.Kinds {
		if version, name, ok := strings.Cut(kind, "/"); !ok || version == "" || name == "" {
			return fmt.Errorf("kind %q: expected VERSION/KIND", kind)
		}
	}
	return nil
}

// parseController reads a description of KEY=VALUE,...
func parseController(text string) (description, error) {
	values, err := pairs("controller", strings.Split(text, ","))
	if err != nil {
		return description{}, err
	}
	d := description{}
	plain := map[string]*string{
		"name": &d.Name, "alias": &d.Alias, "group": &d.Group, "account": &d.Account, "system-namespace": &d.SystemNamespace,
		"region": &d.Region, "endpoint": &d.Endpoint, "deletion-policy": &d.DeletionPolicy,
	}
	for key, value := range values {
		switch field, ok := plain[key]; {
		case ok:
			*field = value
		case key == "watch":
			d.WatchNamespaces = strings.Split(value, "+")
		case key == "kinds":
			d.Kinds = strings.Split(value, "+")
		case key == "gates":
			d.FeatureGates = map[string]bool{}
			for _, gate := range strings.Split(value, "+") {
				d.FeatureGates[gate] = true
			}
		case key == "enable-carm" && (value == "true" || value == "false"):
			on := value == "true"
			d.EnableCARM = &on
		default:
			return d, fmt.Errorf("%s=%s is not known; see tabard migrate carm --help", key, value)
		}
	}
	return d, nil
}

// complete adds what has a default.
func (d *description) complete(account string) {
	set := func(field *string, value string) {
		if *field == "" {
			*field = value
		}
	}
	set(&d.Name, d.Alias)
	set(&d.SystemNamespace, "ack-system")
	set(&d.Account, account)
}

// changedOver says whether the controller uses selectors already. Its CARM is
// described as it was before.
func (d *description) changedOver() bool { return d.FeatureGates[gateSelectors] }

// controller is the description for the library, with the kinds that are known
// of its group.
func (d *description) controller(kinds []schema.GroupVersionKind) carm.Controller {
	for _, kind := range d.Kinds {
		version, name, _ := strings.Cut(kind, "/")
		if gvk := (schema.GroupVersionKind{Group: d.Group, Version: version, Kind: name}); !slices.Contains(kinds, gvk) {
			kinds = append(slices.Clip(kinds), gvk)
		}
	}
	return carm.Controller{
		Name: d.Name, Alias: d.Alias, Group: d.Group, Kinds: kinds, SystemNamespace: d.SystemNamespace, Account: d.Account,
		Region: d.Region, Endpoint: d.Endpoint, DeletionPolicy: d.DeletionPolicy, WatchNamespaces: d.WatchNamespaces,
		DisableCARM:   d.EnableCARM != nil && !*d.EnableCARM && !d.changedOver(),
		TeamLevelCARM: d.FeatureGates[gateTeam], ServiceLevelCARM: d.FeatureGates[gateService],
	}
}

// groupsOf are the API groups of controllers.
func groupsOf(all []description) []string {
	var groups []string
	for _, one := range all {
		groups = append(groups, one.Group)
	}
	slices.Sort(groups)
	return slices.Compact(groups)
}

// systemNamespaces are those of controllers.
func systemNamespaces(all []description) []string {
	var names []string
	for _, one := range all {
		names = append(names, one.SystemNamespace)
	}
	slices.Sort(names)
	return slices.Compact(names)
}
