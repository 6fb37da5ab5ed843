package operator_test

import (
	"errors"
	"maps"
	"strings"
	"testing"

	"github.com/tabard-dev/tabard/internal/core/operator"
)

// wanted is an install into an empty cluster.
func wanted() (operator.Install, *operator.Objects) {
	o := installed()
	i := operator.Install{Wanted: o.Wanted, Approval: operator.Manual}
	return i, &operator.Objects{Wanted: o.Wanted, InstallModes: []string{"OwnNamespace"}}
}

func TestThePlanOfAnInstall(t *testing.T) {
	there := installed()
	for name, c := range map[string]struct {
		change func(*operator.Install, *operator.Objects)
		// marks are those of the three lines; empty where the install is refused, and says why.
		marks, says string
	}{
		"nothing is there": {func(*operator.Install, *operator.Objects) {}, "+++", "watches ns"},
		"the namespace":    {func(_ *operator.Install, o *operator.Objects) { o.NamespaceExists = true }, "=++", ""},
		"all is there": {func(_ *operator.Install, o *operator.Objects) {
			o.NamespaceExists, o.Groups, o.Subscriptions = true, there.Groups, []operator.Subscription{sub(nil)}
		}, "===", "as it shall be"},
		"a group that OLM has not looked at": {func(_ *operator.Install, o *operator.Objects) { o.Groups = []operator.Group{{Name: "g"}} }, "+=+", ""},
		"all namespaces": {func(i *operator.Install, o *operator.Objects) {
			i.InstallMode, o.InstallModes = "AllNamespaces", []string{"AllNamespaces"}
		}, "+++", "watches all namespaces"},
		"all, by the version": {func(_ *operator.Install, o *operator.Objects) { o.InstallModes = []string{"AllNamespaces"} }, "+++", "watches all namespaces"},
		"another namespace": {func(i *operator.Install, o *operator.Objects) {
			i.InstallMode, i.Watched, o.InstallModes = "SingleNamespace", "other", []string{"SingleNamespace"}
		}, "+++", "watches other"},
		"modes are not known": {func(_ *operator.Install, o *operator.Objects) { o.InstallModes = nil }, "+++", "watches ns"},

		"no mode that is chosen by itself": {func(_ *operator.Install, o *operator.Objects) { o.InstallModes = []string{"MultiNamespace"} }, "", "type --install-mode"},
		"a mode that is not supported":     {func(i *operator.Install, _ *operator.Objects) { i.InstallMode = "AllNamespaces" }, "", "supports OwnNamespace"},
		"its own as another namespace": {func(i *operator.Install, o *operator.Objects) {
			i.InstallMode, i.Watched, o.InstallModes = "SingleNamespace", "ns", []string{"OwnNamespace", "SingleNamespace"}
		}, "", "choose the mode OwnNamespace"},
		"a group that does not fit": {func(_ *operator.Install, o *operator.Objects) {
			o.Groups = []operator.Group{{Name: "g", Namespaces: []string{""}}}
		}, "", "AllNamespaces"},
		"a group of another mode": {func(i *operator.Install, o *operator.Objects) {
			i.InstallMode, o.InstallModes, o.Groups = "AllNamespaces", nil, there.Groups
		}, "", "--install-mode for AllNamespaces"},
		"two groups": {func(_ *operator.Install, o *operator.Objects) { o.Groups = make([]operator.Group, 2) }, "", "2 OperatorGroups"},
		"another Subscription": {func(_ *operator.Install, o *operator.Objects) {
			o.Subscriptions = []operator.Subscription{{Name: "q", Package: "p"}}
		}, "", "is for the package p already"},
		"another channel": {func(_ *operator.Install, o *operator.Objects) {
			o.Subscriptions = []operator.Subscription{sub(func(s *operator.Subscription) { s.Channel = "fast" })}
		}, "", `spec.channel is "fast"`},
		"another source": {func(_ *operator.Install, o *operator.Objects) {
			o.Subscriptions = []operator.Subscription{sub(func(s *operator.Subscription) { s.Source = "x" })}
		}, "", "spec.source"},
		"another role": {func(_ *operator.Install, o *operator.Objects) {
			o.Subscriptions = []operator.Subscription{sub(func(s *operator.Subscription) { s.Env = map[string]string{"ROLEARN": "x"} })}
		}, "", "tabard operators set-role p -n ns"},
		"upgrades by themselves": {func(_ *operator.Install, o *operator.Objects) {
			o.Subscriptions = []operator.Subscription{sub(func(s *operator.Subscription) { s.Approval = "" })}
		}, "", `spec.installPlanApproval is "Automatic", expected "Manual"`},
		"a role of another cloud beside": {func(_ *operator.Install, o *operator.Objects) {
			o.Subscriptions = []operator.Subscription{sub(func(s *operator.Subscription) { s.Env["CLIENTID"] = "x" })}
		}, "", `has "x" as CLIENTID, expected ""`},
		"a role, and none is given": {func(i *operator.Install, o *operator.Objects) {
			i.Values, o.Subscriptions = nil, []operator.Subscription{sub(func(*operator.Subscription) {})}
		}, "", "as ROLEARN, expected \"\""},
		"variables of other objects": {func(_ *operator.Install, o *operator.Objects) {
			o.Subscriptions = []operator.Subscription{sub(func(s *operator.Subscription) { s.References = true })}
		}, "", "unknown which role"},
		"what may not be read": {func(_ *operator.Install, o *operator.Objects) {
			o.Unread = map[operator.Kind]error{operator.KindGroup: errors.New("forbidden")}
		}, "", "forbidden"},
	} {
		t.Run(name, func(t *testing.T) {
			i, o := wanted()
			c.change(&i, o)
			changes, err := i.Plan(o)
			text, marks := "", ""
			for _, change := range changes {
				text, marks = text+change.String()+"\n", marks+change.String()[:1]
			}
			if err != nil {
				text = err.Error()
			}
			if marks != c.marks || !strings.Contains(text, c.says) || errors.Is(err, operator.ErrConflict) != (c.marks == "") {
				t.Errorf("%q: %s", marks, text)
			}
		})
	}
}

// sub is the Subscription as it shall be, but for a change.
func sub(change func(*operator.Subscription)) operator.Subscription {
	out := operator.Subscription{Namespace: "ns", Name: "p", Package: "p", Channel: "stable", Source: "vendor", SourceNamespace: "olm", Approval: operator.Manual, Env: map[string]string{"ROLEARN": arn}}
	if change != nil {
		change(&out)
	}
	return out
}

func TestTheRoleOfASubscription(t *testing.T) {
	for name, c := range map[string]struct {
		env, values map[string]string
		identity    string
		cloud       string
	}{
		"none":           {map[string]string{"LEVEL": "debug"}, nil, "", ""},
		"a region alone": {map[string]string{"REGION": "x", "AUDIENCE": "y"}, nil, "", ""},
		"in AWS":         {map[string]string{"ROLEARN": arn, "LEVEL": "debug"}, map[string]string{"ROLEARN": arn}, arn, "aws"},
		"in Azure":       {map[string]string{"CLIENTID": "c", "TENANTID": "t", "SUBSCRIPTIONID": "s", "REGION": "r"}, map[string]string{"CLIENTID": "c", "TENANTID": "t", "SUBSCRIPTIONID": "s", "REGION": "r"}, "c", "azure"},
		"in Google":      {map[string]string{"SERVICE_ACCOUNT_EMAIL": "e", "POOL_ID": "p", "AUDIENCE": "a"}, map[string]string{"SERVICE_ACCOUNT_EMAIL": "e", "POOL_ID": "p", "AUDIENCE": "a"}, "e", "gcp"},
		"emptied":        {map[string]string{"ROLEARN": ""}, nil, "", ""},
	} {
		values, identity := operator.ValuesOf(operator.Subscription{Env: c.env})
		if !maps.Equal(values, c.values) || identity != c.identity || operator.IdentityOf(c.env) != c.identity {
			t.Errorf("%s: %v of %s", name, values, identity)
		}
		cloud := operator.CloudOf(values)
		if (cloud == nil) != (c.cloud == "") || cloud != nil && cloud.String() != c.cloud {
			t.Errorf("%s: the cloud is %v", name, cloud)
		}
	}
	if operator.IsRoleVariable("REGION") || !operator.IsRoleVariable("ROLEARN") {
		t.Error("REGION may be there for other reasons than the role")
	}
}
