package hub_test

import (
	"io"
	"slices"
	"strings"
	"testing"

	"github.com/spf13/pflag"

	"github.com/tabard-dev/tabard/internal/core/hub"
)

// hubController is the command of Open Cluster Management's hub controller, as its operator
// renders it.
func hubController(flags ...string) []string {
	return append([]string{"/registration", "controller"}, flags...)
}

func TestActivity(t *testing.T) {
	tests := map[string]struct {
		words []string
		want  hub.Activity
	}{
		"another program":                            {[]string{"/work", "manager"}, hub.NoController},
		"nothing that the pod says":                  {nil, hub.NoController},
		"the driver csr":                             {hubController("--enabled-registration-drivers=csr"), hub.Idle},
		"no driver named":                            {hubController(), hub.Idle},
		"awsirsa":                                    {hubController("--hub-cluster-arn="+hubARN, "--enabled-registration-drivers=awsirsa"), hub.Acting},
		"awsirsa beside another":                     {hubController("--enabled-registration-drivers=csr,awsirsa"), hub.Acting},
		"awsirsa as a word of its own":               {hubController("--enabled-registration-drivers", "csr,awsirsa"), hub.Acting},
		"awsirsa in quotes":                          {hubController(`--enabled-registration-drivers="awsirsa"`), hub.Acting},
		"awsirsa in the second of two flags":         {hubController("--enabled-registration-drivers=csr", "--enabled-registration-drivers=awsirsa"), hub.Acting},
		"awsirsa in another image":                   {[]string{"/opt/ocm/registration", "controller", "--enabled-registration-drivers=awsirsa"}, hub.Acting},
		"awsirsa by the image's own entry":           {[]string{"--enabled-registration-drivers=awsirsa"}, hub.Acting},
		"disabled":                                   {hubController("--enabled-registration-drivers=awsirsa", "--disable-managed-iam"), hub.Idle},
		"disabled, in words":                         {hubController("--enabled-registration-drivers=awsirsa", "--disable-managed-iam=true"), hub.Idle},
		"disabled before":                            {hubController("--disable-managed-iam=1", "--enabled-registration-drivers=awsirsa"), hub.Idle},
		"not disabled":                               {hubController("--enabled-registration-drivers=awsirsa", "--disable-managed-iam=false"), hub.Acting},
		"disabled, and then not":                     {hubController("--enabled-registration-drivers=awsirsa", "--disable-managed-iam", "--disable-managed-iam=false"), hub.Acting},
		"disabled by what is no truth":               {hubController("--enabled-registration-drivers=awsirsa", "--disable-managed-iam=yes"), hub.Acting},
		"disabled as the value of a flag":            {hubController("--enabled-registration-drivers=awsirsa", "--namespace", "--disable-managed-iam"), hub.Acting},
		"disabled after the flags":                   {hubController("--enabled-registration-drivers=awsirsa", "--", "--disable-managed-iam"), hub.Acting},
		"the drivers in a variable":                  {hubController("--enabled-registration-drivers=$(DRIVERS)"), hub.Unclear},
		"the drivers in a variable, disabled":        {hubController("--enabled-registration-drivers=$(DRIVERS)", "--disable-managed-iam"), hub.Unclear},
		"a flag in a variable":                       {hubController("$(FLAGS)"), hub.Unclear},
		"a variable in the value of another flag":    {hubController("--namespace=$(NAMESPACE)"), hub.Idle},
		"a script":                                   {[]string{"sh", "-c", "exec /registration controller --enabled-registration-drivers=awsirsa"}, hub.Unclear},
		"a script that says that it is disabled":     {[]string{"sh", "-c", "exec run awsirsa", "--disable-managed-iam"}, hub.Unclear},
		"a pattern with the driver's name":           {hubController("--enabled-registration-drivers=csr", "--auto-approved-arn-patterns=.*/awsirsa-.*"), hub.Idle},
		"a flag of another program with that name":   {[]string{"run", "--driver=awsirsa"}, hub.Unclear},
		"a variable in the command of another thing": {[]string{"run", "$(FLAGS)"}, hub.NoController},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			if got := (hub.Pod{Commands: [][]string{test.words}}).Activity(); got != test.want {
				t.Errorf("it is %q, want %q", got, test.want)
			}
		})
	}
}

// TestAPodDoesWhatOneOfItsContainersDoes in whichever order they stand.
func TestAPodDoesWhatOneOfItsContainersDoes(t *testing.T) {
	acts, idle, other := hubController("--enabled-registration-drivers=awsirsa"), hubController(), []string{"/proxy"}
	unclear := hubController("$(FLAGS)")
	tests := map[string]struct {
		pod  hub.Pod
		want hub.Activity
	}{
		"none":                              {hub.Pod{}, hub.NoController},
		"the label alone":                   {hub.Pod{Controller: true}, hub.Idle},
		"the label, and another program":    {hub.Pod{Controller: true, Commands: [][]string{other}}, hub.Idle},
		"one that acts, without the label":  {hub.Pod{Commands: [][]string{other, acts, unclear, idle}}, hub.Acting},
		"one that acts, in another order":   {hub.Pod{Controller: true, Commands: [][]string{idle, unclear, acts, other}}, hub.Acting},
		"one that is unclear, and one idle": {hub.Pod{Commands: [][]string{unclear, idle, other}}, hub.Unclear},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			if got := test.pod.Activity(); got != test.want {
				t.Errorf("it is %q, want %q", got, test.want)
			}
		})
	}
}

// FuzzActivity: whatever its words, a hub controller whose flags enable the driver is never
// taken for one that makes no roles.
func FuzzActivity(f *testing.F) {
	for _, seed := range []string{
		"--enabled-registration-drivers=awsirsa", "--enabled-registration-drivers\nawsirsa\n--disable-managed-iam=false",
		"--enabled-registration-drivers\n--disable-managed-iam\n--enabled-registration-drivers=awsirsa", "--x\n--disable-managed-iam\n--enabled-registration-drivers=awsirsa",
		"--\n--disable-managed-iam\n--enabled-registration-drivers=awsirsa", `--enabled-registration-drivers="awsirsa","csr"`, "-v=2\n--enabled-registration-drivers=csr,awsirsa",
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		words := strings.Split(text, "\n")
		flags := pflag.NewFlagSet("controller", pflag.ContinueOnError)
		flags.SetOutput(io.Discard)
		drivers := flags.StringSlice("enabled-registration-drivers", []string{"csr"}, "")
		disabled := flags.Bool("disable-managed-iam", false, "")
		flags.String("x", "", "")
		flags.StringP("v", "v", "", "")
		if flags.Parse(words) != nil || !slices.Contains(*drivers, "awsirsa") || *disabled {
			return
		}
		if got := (hub.Pod{Commands: [][]string{hubController(words...)}}).Activity(); got != hub.Acting && got != hub.Unclear {
			t.Errorf("a controller with the flags %q enables %q, and is %q", words, *drivers, got)
		}
	})
}
