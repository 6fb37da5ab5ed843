package credentials_test

import (
	"fmt"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/yaml"

	"github.com/tabard-dev/tabard/awslocal"
	"github.com/tabard-dev/tabard/internal/controller"
	core "github.com/tabard-dev/tabard/internal/core/credentials"
	"github.com/tabard-dev/tabard/internal/testkit/must"
)

var (
	selector = regexp.MustCompile(`(tabard_\w+)(?:\{([^}]*)\})?`)
	matcher  = regexp.MustCompile(`(\w+)=~?"([^"]*)"`)
)

// serves says what of an expression is not served: a metric, or the value of a label. Any
// condition and reason that a grant can have may be served.
func (f *fixture) serves(expression string) error {
	values := map[string]bool{}
	for _, family := range must.Get(f.registry.Gather())(f) {
		values[family.GetName()] = true
		for _, one := range family.GetMetric() {
			for _, label := range one.GetLabel() {
				values[family.GetName()+" "+label.GetName()+" "+label.GetValue()] = true
			}
		}
	}
	for _, kind := range core.Reference.Types {
		values["tabard_controller_conditions condition "+kind.Name] = true
	}
	for _, e := range core.Reference.Reasons {
		values["tabard_credentials_requests reason "+string(e.Reason)] = true
	}
	parts := selector.FindAllStringSubmatch(expression, -1)
	if len(parts) == 0 {
		return fmt.Errorf("%q names no metric", expression)
	}
	for _, part := range parts {
		wanted := []string{part[1]}
		for _, match := range matcher.FindAllStringSubmatch(part[2], -1) {
			for value := range strings.SplitSeq(match[2], "|") {
				wanted = append(wanted, part[1]+" "+match[1]+" "+value)
			}
		}
		for _, want := range wanted {
			if !values[want] {
				return fmt.Errorf("%q is not served", want)
			}
		}
	}
	return nil
}

// TestAlertsNameWhatIsServed has one request that AWS refuses and one whose deletion it
// refuses.
func TestAlertsNameWhatIsServed(t *testing.T) {
	f := newFixture(t)
	stays, waits := f.request("stays", "stays"), f.request("waits", "waits")
	must.Do(t, f.controller.ReadUsage(t.Context()))
	f.Make(stays)
	f.until(stays, isReady)
	must.Get(controller.Measured(f.passes, f.controller).Reconcile(t.Context(), keyOf(stays)))(t)
	for _, operation := range []string{"CreateRole", "DeleteRole"} {
		f.aws.Admin().Inject(awslocal.Fault{Service: "iam", Operation: operation, Code: "AccessDenied"})
	}
	f.Make(waits)
	f.until(waits, has(core.TypeRolePresent, metav1.ConditionFalse, string(core.ReasonAccessDenied)))
	f.Remove(stays)
	f.until(stays, has(core.TypeDeletionBlocked, metav1.ConditionTrue, string(core.ReasonAccessDenied)))

	var file struct {
		Groups []struct {
			Rules []struct {
				Alert, Expr, For    string
				Labels, Annotations map[string]string
			}
		}
	}
	must.Do(t, yaml.Unmarshal(must.Get(os.ReadFile("../../../config/alerts/credentials.yaml"))(t), &file))
	var alerts []string
	for _, rule := range file.Groups[0].Rules {
		f.Await(func() error {
			if err := f.serves(rule.Expr); err != nil {
				return fmt.Errorf("%s: %w", rule.Alert, err)
			}
			return nil
		})
		if _, err := time.ParseDuration(rule.For); err != nil || rule.Labels["severity"] == "" || rule.Annotations["summary"] == "" || rule.Annotations["description"] == "" {
			t.Errorf("%s is not complete: %+v", rule.Alert, rule)
		}
		alerts = append(alerts, rule.Alert)
	}
	for _, like := range []string{"TargetNamespaceMissing", "ProvisioningFailed", "DeprovisioningFailed", "InsufficientRights", "StaleCredentials"} {
		if !slices.Contains(alerts, "TabardCredentials"+like) {
			t.Errorf("there is no alert TabardCredentials%s", like)
		}
	}
	for _, planted := range []string{
		`sum(tabard_credentials_request) > 0`, `sum(tabard_credentials_requests{state="delayed"}) > 0`, `time() > 0`,
		`sum(tabard_credentials_requests{reason="AccessDenid"}) > 0`, `max(tabard_credentials_roles{status="absent"}) > 0`,
	} {
		if f.serves(planted) == nil {
			t.Errorf("%s passes for served", planted)
		}
	}
}
