package roleselector

import (
	"flag"
	"io"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/tabard-dev/tabard/api/services/v1alpha1"
	"github.com/tabard-dev/tabard/awsauth/identity"
)

// parsed is what flags say, by the standard library's parser.
func parsed(args ...string) (options Options, settings Settings, err error) {
	set := flag.NewFlagSet("controller", flag.ContinueOnError)
	set.SetOutput(io.Discard)
	for _, one := range Flags(&options, &settings) {
		set.Func(one.Name, one.Usage, one.Set)
	}
	err = set.Parse(args)
	if problem := firstBlocking(settings.Problems()); err == nil && problem != nil {
		return options, settings, problemError(*problem)
	}
	return options, settings, err
}

type problemError Problem

func (p problemError) Error() string { return Problem(p).String() }

func TestFlagsSayWhatTheAdministratorWants(t *testing.T) {
	for name, c := range map[string]struct {
		args     []string
		options  Options
		settings Settings
	}{
		"nothing":         {},
		"a policy":        {args: []string{"--no-selector-policy=Deny"}, options: Options{NoSelector: PolicyDeny}},
		"the other":       {args: []string{"--no-selector-policy", "DefaultRole"}, options: Options{NoSelector: PolicyDefaultRole}},
		"an external ID":  {args: []string{"--assume-role-external-id=ack/%CLUSTER_ID%"}, settings: Settings{ExternalID: "ack/%CLUSTER_ID%"}},
		"the last counts": {args: []string{"--assume-role-session-name=aa", "--assume-role-session-name= bb "}, settings: Settings{SessionName: "bb"}},
		"a name that STS takes once it is shortened": {args: []string{"--assume-role-session-name=" + strings.Repeat("n", 70)}, settings: Settings{SessionName: strings.Repeat("n", 70)}},
		"a name of one variable":                     {args: []string{"--assume-role-session-name=%RESOURCE_UID%"}, settings: Settings{SessionName: "%RESOURCE_UID%"}},
		"tags": {
			args: []string{"--assume-role-session-tags=ack-namespace=%K8S_NAMESPACE%, stage=a=b", "--assume-role-session-tags=empty="},
			settings: Settings{SessionTags: []v1alpha1.SessionTag{
				tag("ack-namespace", template("%K8S_NAMESPACE%")), tag("stage", value("a=b")), tag("empty", value("")),
			}},
		},
		"a user's tag":           {args: []string{"--assume-role-session-tags=ack-user-name=%RESOURCE_NAME%"}, settings: Settings{SessionTags: []v1alpha1.SessionTag{tag("ack-user-name", template("%RESOURCE_NAME%"))}}},
		"a limit":                {args: []string{"--assume-role-session-limit=1"}, settings: Settings{SessionLimit: 1}},
		"locks":                  {args: []string{"--lock-assume-role-fields=external-id, session-name"}, settings: Settings{Locked: []Field{ExternalIDField, SessionNameField}}},
		"a lock of tags":         {args: []string{"--lock-assume-role-fields=session-tags", "--assume-role-session-tags=a=b"}, settings: Settings{Locked: []Field{SessionTagsField}, SessionTags: []v1alpha1.SessionTag{tag("a", value("b"))}}},
		"patterns":               {args: []string{"--allowed-role-arn-patterns=arn:aws:iam::*:role/ack/*,arn:aws-cn:*"}, settings: Settings{AllowedRoles: []string{"arn:aws:iam::*:role/ack/*", "arn:aws-cn:*"}}},
		"patterns one by one":    {args: []string{"--allowed-role-arn-patterns=arn:a", "--allowed-role-arn-patterns=arn:b"}, settings: Settings{AllowedRoles: []string{"arn:a", "arn:b"}}},
		"prefixes before a text": {args: []string{"--protected-label-prefixes=a.b/,c.d/", "--assume-role-session-tags=ack-team=%NAMESPACE_LABEL(c.d/team)%"}, settings: Settings{ProtectedLabels: []string{"a.b/", "c.d/"}, SessionTags: []v1alpha1.SessionTag{tag("ack-team", template("%NAMESPACE_LABEL(c.d/team)%"))}}},
		"and after it":           {args: []string{"--assume-role-session-name=x-%NAMESPACE_LABEL(c.d/team)%", "--protected-label-prefixes=c.d/"}, settings: Settings{ProtectedLabels: []string{"c.d/"}, SessionName: "x-%NAMESPACE_LABEL(c.d/team)%"}},
	} {
		t.Run(name, func(t *testing.T) {
			options, settings, err := parsed(c.args...)
			if diff := cmp.Diff(c.settings, settings); diff != "" || err != nil || options.NoSelector != c.options.NoSelector {
				t.Errorf("the policy is %q, want %q; %v; the settings differ (-want +got):\n%s", options.NoSelector, c.options.NoSelector, err, diff)
			}
		})
	}
}

func TestFlagsThatCannotBeMeantAreRefused(t *testing.T) {
	const inExternalID = "%CLUSTER_ID%, %CONTROLLER_NAMESPACE%, %K8S_NAMESPACE%, %K8S_NAMESPACE_UID%, %SELECTOR_NAME%, %SELECTOR_UID%"
	for flags, want := range map[string]string{
		"--no-selector-policy=deny":                                                    `"deny" is neither DefaultRole nor Deny`,
		"--no-selector-policy=":                                                        "the value is empty; leave the flag out, or write Deny",
		"--assume-role-external-id=%CLUSTER%":                                          `--assume-role-external-id: "%CLUSTER%" is no variable; write a text such as ack/%CLUSTER_ID%, with the variables ` + inExternalID,
		"--assume-role-external-id=%RESOURCE_NAME%":                                    "--assume-role-external-id: the variable %RESOURCE_NAME% is not allowed here: others than the administrator may set its value; write a text such as ack/%CLUSTER_ID%, with the variables " + inExternalID,
		"--assume-role-external-id=%KIND%":                                             "--assume-role-external-id: the variable %KIND% is not allowed here",
		"--assume-role-external-id=50%":                                                `--assume-role-external-id: a percent sign has no partner in "50%"`,
		"--assume-role-external-id=a":                                                  `--assume-role-external-id: "a" is not what STS takes: 2 to 1224 letters, digits and _+=,.@:/-; write a text such as ack/%CLUSTER_ID%`,
		"--assume-role-external-id=a b%CLUSTER_ID%":                                    `--assume-role-external-id: "a b%CLUSTER_ID%" is not what STS takes`,
		"--assume-role-session-name=ack/%SERVICE%":                                     `--assume-role-session-name: "ack/%SERVICE%" is not what STS takes: 2 to 64 letters, digits and _+=,.@-; write a text such as ack-%SERVICE%-%K8S_NAMESPACE%`,
		"--assume-role-session-name=%NAMESPACE_LABEL(team)%":                           "--assume-role-session-name: %NAMESPACE_LABEL(team)% is not of a protected label; add the beginning of its key to --protected-label-prefixes",
		"--assume-role-session-tags=a":                                                 `"a" is not KEY=TEMPLATE; write ack-namespace=%K8S_NAMESPACE%,cost-center=4711`,
		"--assume-role-session-tags==a":                                                "--assume-role-session-tags[]: the key is not what STS takes",
		"--assume-role-session-tags=a=b,,c=d":                                          `an entry of "a=b,,c=d" is empty; write ack-namespace=`,
		"--assume-role-session-tags=a=b,A=c":                                           "--assume-role-session-tags[A]: the key is there twice; upper and lower case are one",
		"--assume-role-session-tags=aws:a=b":                                           "--assume-role-session-tags[aws:a]: keys that begin with aws: are AWS's own",
		"--assume-role-session-tags=a=*":                                               `--assume-role-session-tags[a]: "*" is not what STS takes: up to 256 letters`,
		"--assume-role-session-tags=ack-a=*%KIND%":                                     `--assume-role-session-tags[ack-a]: "*%KIND%" is not what STS takes: up to 256 letters`,
		"--assume-role-session-tags=namespace=%K8S_NAMESPACE%":                         "--assume-role-session-tags[namespace]: the key of a tag with a variable begins with ack-; write ack-namespace",
		"--assume-role-session-tags=ack-name=%RESOURCE_NAME%":                          "--assume-role-session-tags[ack-name]: the variable %RESOURCE_NAME% is not allowed here",
		"--assume-role-session-tags=ack-team=%NAMESPACE_LABEL(ab/team)%":               "--assume-role-session-tags[ack-team]: %NAMESPACE_LABEL(ab/team)% is not of a protected label",
		"--assume-role-session-limit=0":                                                `"0" is not a whole number of 1 or more; write 1000`,
		"--assume-role-session-limit=many":                                             `"many" is not a whole number`,
		"--lock-assume-role-fields=arn":                                                `--lock-assume-role-fields: "arn" is no field that can be locked; there are external-id, session-name and session-tags`,
		"--lock-assume-role-fields=session-tags":                                       "--lock-assume-role-fields: session-tags locks the keys of --assume-role-session-tags, and there are none",
		"--allowed-role-arn-patterns=":                                                 "the value is empty; leave the flag out, or write arn:aws:iam::*:role/ack/*",
		"--allowed-role-arn-patterns=*":                                                `--allowed-role-arn-patterns: "*" is not the ARN of a role, with * for any characters; write one such as arn:aws:iam::*:role/ack/*`,
		"--allowed-role-arn-patterns=arn:aws:iam::*:role/ack/*,":                       "is empty; write arn:aws:iam::*:role/ack/*",
		"--protected-label-prefixes=identity.tabard.dev/*":                             `--protected-label-prefixes: "identity.tabard.dev/*" is not what keys of labels begin with; write one such as identity.tabard.dev/`,
		"--protected-label-prefixes=a --assume-role-session-name=%NAMESPACE_LABEL(b)%": "--assume-role-session-name: %NAMESPACE_LABEL(b)% is not of a protected label",
	} {
		t.Run(flags, func(t *testing.T) {
			args := []string{flags}
			if first, second, several := strings.Cut(flags, " --"); several {
				args = []string{first, "--" + second}
			}
			if _, _, err := parsed(args...); err == nil || !strings.Contains(err.Error(), want) {
				t.Errorf("got  %v\nwant %s", err, want)
			}
		})
	}
}

// TestFlagsSayHowARoleIsAssumed goes from the command line to the input of AssumeRole.
func TestFlagsSayHowARoleIsAssumed(t *testing.T) {
	const name = "ack-s3-ca978112-9b4b3a46"
	for what, c := range map[string]struct {
		args    string
		spec    v1alpha1.AssumeRole
		want    identity.Role
		scope   v1alpha1.CacheScope // Selector if it is empty
		refused string
	}{
		"an external ID":          {args: "--assume-role-external-id=ack/%CLUSTER_ID%", want: identity.Role{ExternalID: "ack/cluster-7", SessionName: name}},
		"one of the namespace":    {args: "--assume-role-external-id=%K8S_NAMESPACE%", want: identity.Role{ExternalID: "prod", SessionName: name}, scope: v1alpha1.NamespaceScope},
		"the selector's own":      {args: "--assume-role-external-id=flag", spec: v1alpha1.AssumeRole{ExternalID: value("own")}, want: identity.Role{ExternalID: "own", SessionName: name}},
		"the selector's is wrong": {args: "--assume-role-external-id=flag --lock-assume-role-fields=external-id", spec: v1alpha1.AssumeRole{ExternalID: value("own")}, refused: "spec.assumeRole.externalID: the administrator has locked the external-id"},
		"locked to none":          {args: "--lock-assume-role-fields=external-id", spec: v1alpha1.AssumeRole{ExternalID: value("own")}, refused: "spec.assumeRole.externalID: the administrator has locked"},
		"locked, and not set":     {args: "--assume-role-external-id=flag --lock-assume-role-fields=external-id", want: identity.Role{ExternalID: "flag", SessionName: name}},
		"a session name":          {args: "--assume-role-session-name=%SERVICE%.%K8S_NAMESPACE%.%RESOURCE_NAME%", want: identity.Role{SessionName: "s3.prod.logs"}, scope: v1alpha1.ResourceScope},
		"a long session name":     {args: "--assume-role-session-name=" + strings.Repeat("n", 70), want: identity.Role{SessionName: strings.Repeat("n", 55) + "-" + digest(strings.Repeat("n", 70))}},
		"the selector's own name": {args: "--assume-role-session-name=flag", spec: v1alpha1.AssumeRole{SessionName: value("own")}, want: identity.Role{SessionName: "own"}},
		"a locked name":           {args: "--assume-role-session-name=flag --lock-assume-role-fields=session-name", spec: v1alpha1.AssumeRole{SessionName: value("own")}, refused: "spec.assumeRole.sessionName: the administrator has locked the session-name"},
		"tags beside the selector's": {
			args: "--assume-role-session-tags=ack-namespace=%K8S_NAMESPACE%,cost=1", spec: v1alpha1.AssumeRole{SessionTags: []v1alpha1.SessionTag{tag("Cost", value("2")), tag("own", value("3"))}},
			want: identity.Role{SessionName: name, Tags: map[string]string{"ack-namespace": "prod", "Cost": "2", "own": "3"}}, scope: v1alpha1.NamespaceScope,
		},
		"a locked tag": {
			args: "--assume-role-session-tags=cost=1 --lock-assume-role-fields=session-tags", spec: v1alpha1.AssumeRole{SessionTags: []v1alpha1.SessionTag{tag("Cost", value("2"))}},
			refused: "spec.assumeRole.sessionTags[Cost]: the administrator has locked the session-tags",
		},
		"another tag beside a locked one": {
			args: "--assume-role-session-tags=cost=1 --lock-assume-role-fields=session-tags", spec: v1alpha1.AssumeRole{SessionTags: []v1alpha1.SessionTag{tag("own", value("2"))}},
			want: identity.Role{SessionName: name, Tags: map[string]string{"cost": "1", "own": "2"}},
		},
		"an allowed role":   {args: "--allowed-role-arn-patterns=arn:aws:iam::999999999999:role/*," + someARN, want: identity.Role{SessionName: name}},
		"one of a pattern":  {args: "--allowed-role-arn-patterns=arn:aws:iam::*:role/te*", want: identity.Role{SessionName: name}},
		"another role":      {args: "--allowed-role-arn-patterns=arn:aws:iam::999999999999:role/*", refused: "spec.arn: the administrator of the controller does not let it assume this role"},
		"a protected label": {args: "--protected-label-prefixes=safe.example.com/", spec: v1alpha1.AssumeRole{SessionName: template("x-%NAMESPACE_LABEL(safe.example.com/team)%")}, want: identity.Role{SessionName: "x-a"}, scope: v1alpha1.NamespaceScope},
		"another label":     {args: "--protected-label-prefixes=safe.example.com/", spec: v1alpha1.AssumeRole{SessionName: template("x-%NAMESPACE_LABEL(team)%")}, refused: `spec.assumeRole.sessionName: the namespace label "team" is not protected by the administrator`},
		"no protected one":  {spec: v1alpha1.AssumeRole{SessionName: template("x-%NAMESPACE_LABEL(safe.example.com/team)%")}, refused: "spec.assumeRole.sessionName: the namespace label"},
	} {
		t.Run(what, func(t *testing.T) {
			_, settings, err := parsed(strings.Fields(c.args)...)
			if err != nil {
				t.Fatal(err)
			}
			input, problems := assuming(c.spec).AssumeRole(someSubject(), settings)
			if c.refused != "" {
				if len(problems) != 1 || !strings.HasPrefix(problems[0].String(), c.refused) || input.Role.ARN != "" {
					t.Errorf("got %+v, %v, want no role and %s", input.Role, problems, c.refused)
				}
				return
			}
			c.want.ARN, c.want.Duration = someARN, defaultDuration
			if c.scope == "" {
				c.scope = v1alpha1.SelectorScope
			}
			if diff := cmp.Diff(Input{c.want, c.scope}, input); diff != "" || len(problems) > 0 {
				t.Errorf("the problems are %v, and the input differs (-want +got):\n%s", problems, diff)
			}
		})
	}
}
