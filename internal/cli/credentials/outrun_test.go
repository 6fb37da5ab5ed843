package credentials_test

import (
	"context"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	"github.com/tabard-dev/tabard/api/identity/v1alpha1"
	"github.com/tabard-dev/tabard/internal/cli/command"
	core "github.com/tabard-dev/tabard/internal/core/credentials"
	"github.com/tabard-dev/tabard/internal/testkit/must"
)

// outrun makes the controller write the grant before each of the first writes of a command.
func (b *bed) outrun(times int, write func(context.Context, client.Client)) *bed {
	before := func(ctx context.Context, c client.WithWatch) {
		if times--; times >= 0 {
			write(ctx, c)
		}
	}
	b.client = interceptor.NewClient(b.client.(client.WithWatch), interceptor.Funcs{ //nolint:forcetypeassert // the fake client is one
		Patch: func(ctx context.Context, c client.WithWatch, o client.Object, p client.Patch, options ...client.PatchOption) error {
			before(ctx, c)
			return c.Patch(ctx, o, p, options...)
		},
		Create: func(ctx context.Context, c client.WithWatch, o client.Object, options ...client.CreateOption) error {
			before(ctx, c)
			return c.Create(ctx, o, options...)
		},
	})
	return b
}

// The controller writes a request's grant whenever it gets on. A person who decides in the
// same moment is not told so, and what the controller wrote stays.
func TestTheControllerMayWriteWhileAPersonDecides(t *testing.T) {
	for name, test := range map[string]struct {
		args  []string
		grant bool // there is one before
		times int
		code  int
		says  string
		bound bool
	}{
		"bind":                   {[]string{"bind", "reports", "--role-arn", reportsRole}, true, 2, 0, "is bound to " + reportsRole, true},
		"bind, and it is made":   {[]string{"bind", "reports", "--role-arn", reportsRole}, false, 1, 0, "is bound to " + reportsRole, true},
		"adopt":                  {[]string{"adopt", "reports"}, true, 2, 0, "Tabard takes team-a/reports over", false},
		"unbind":                 {[]string{"unbind", "reports"}, true, 2, 0, "no longer bound", false},
		"it is written for ever": {[]string{"bind", "reports", "--role-arn", reportsRole}, true, 1000, command.Found, "Operation cannot be fulfilled", false},
	} {
		t.Run(name, func(t *testing.T) {
			of := request("reports")
			if test.args[0] == "adopt" {
				of = request("reports", toSecret, ofCCO)
			}
			wanted := grant(of, metav1.ConditionFalse, core.ReasonNoIdentity, "waits")
			if test.args[0] == "unbind" {
				wanted.Spec.Bound = &v1alpha1.BoundIdentity{RoleARN: reportsRole}
			}
			objects := []client.Object{of, &v1alpha1.CredentialsBoundary{
				ObjectMeta: metav1.ObjectMeta{Name: "team-a"}, Spec: v1alpha1.CredentialsBoundarySpec{Namespaces: []string{"team-a"}},
			}}
			if test.grant {
				objects = append(objects, wanted)
			}
			b := newBed(t, plainKubernetes, objects...)
			written := 0
			b.outrun(test.times, func(ctx context.Context, c client.Client) {
				written++
				now := b.grant(of)
				if now == nil {
					must.Do(t, c.Create(ctx, wanted.DeepCopy()))
					return
				}
				now.Labels = map[string]string{"written": strings.Repeat("x", written%60)}
				must.Do(t, c.Update(ctx, now))
			})
			code, out, said := b.run(test.args...)
			if code != test.code || strings.Count(out+said, test.says) != 1 {
				t.Errorf("exit code %d, it says %q %q, want %d and %q once", code, out, said, test.code, test.says)
			}
			after := b.grant(of)
			if (after.Spec.Bound != nil) != test.bound || test.grant && len(after.Labels["written"]) != written%60 {
				t.Errorf("after %d writes of the controller the grant is %+v with the labels %v", written, after.Spec, after.Labels)
			}
		})
	}
}
