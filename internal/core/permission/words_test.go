package permission_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/tabard-dev/tabard/internal/core/permission"
)

func provider(text string) *runtime.RawExtension { return &runtime.RawExtension{Raw: []byte(text)} }

func allow(action, resource string) permission.Atom {
	return permission.Atom{Cloud: permission.AWS, Kind: permission.KindAction, Effect: "Allow", Action: action, Resource: resource}
}

func TestSentencesSayOnlyWhatTheNamesMakeCertain(t *testing.T) {
	denied, conditional := allow("s3:DeleteObject", objects), allow("s3:GetObject", objects)
	denied.Effect = "Deny"
	conditional.Condition = `{"Bool":{"aws:SecureTransport":["true"]},"StringEquals":{"aws:RequestedRegion":["a","b"]}}`
	for want, atom := range map[string]permission.Atom{
		"may read objects (s3:GetObject) of arn:aws:s3:::b/*":               allow("s3:GetObject", objects),
		"may read objects (s3:GetObject) of every resource":                 allow("s3:GetObject", "*"),
		"may read buckets (s3:ListBucket) of arn:aws:s3:::b":                allow("s3:ListBucket", "arn:aws:s3:::b"),
		"may read DB instances (rds:DescribeDBInstances) of every resource": allow("rds:DescribeDBInstances", "*"),
		"may read object tagging (s3:GetObjectTagging) of arn:aws:s3:::b/*": allow("s3:GetObjectTagging", objects),
		"may write policies (iam:CreatePolicy) of every resource":           allow("iam:CreatePolicy", "*"),
		"may write objects (s3:PutObject) of arn:aws:s3:::b/*":              allow("s3:PutObject", objects),
		"may delete queues (sqs:DeleteQueue) of " + queue:                   allow("sqs:DeleteQueue", queue),
		"may read (s3:Get*) arn:aws:s3:::b/*":                               allow("s3:Get*", objects),
		"may call sqs:SendMessage on " + queue:                              allow("sqs:SendMessage", queue),
		"may call s3:G* on arn:aws:s3:::b/*":                                allow("s3:G*", objects),
		"may call ec2:Getaway on every resource":                            allow("ec2:Getaway", "*"),
		"may do anything in s3 (s3:*) with arn:aws:s3:::b/*":                allow("s3:*", objects),
		"may do anything (*) with every resource":                           allow("*", "*"),
		"may never delete objects (s3:DeleteObject) of arn:aws:s3:::b/*":    denied,
		"gets the role Reader":                                              {Cloud: permission.Azure, Kind: permission.KindRole, Value: "Reader"},
		"may do Microsoft.Storage/x/read with data":                         {Cloud: permission.Azure, Kind: permission.KindDataPermission, Value: "Microsoft.Storage/x/read"},
		"may do storage.objects.get":                                        {Cloud: permission.GCP, Kind: permission.KindPermission, Value: "storage.objects.get"},
		"may read objects (s3:GetObject) of arn:aws:s3:::b/*, only if aws:SecureTransport Bool true, and aws:RequestedRegion StringEquals a or b": conditional,
	} {
		if got := atom.Sentence(); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}

func TestSensitiveAtomsAreMarked(t *testing.T) {
	denied := allow("*", "*")
	denied.Effect = "Deny"
	const role = "arn:aws:iam::111122223333:role/x"
	for _, row := range []struct {
		atom permission.Atom
		want bool
	}{
		{allow("*", objects), true},
		{allow("*:*", objects), true},
		{allow("s3:*", objects), true},
		{allow("s3:**", objects), true},
		{allow("iam:*", role), true},
		{allow("iam:PassRole", role), true},
		{allow("IAM:passrole", role), true},
		{allow("iam:Pass*", role), true},
		{allow("i?m:CreateUser", role), true},
		{allow("iam:CreateUser", role), true},
		{allow("iam:PutRolePolicy", role), true},
		{allow("iam:AttachRolePolicy", role), true},
		{allow("iam:GetRole", role), false},
		{allow("sts:AssumeRole", role), true},
		{allow("sts:AssumeRoleWithWebIdentity", role), true},
		{allow("sts:GetCallerIdentity", "*"), false},
		{allow("kms:Decrypt", "arn:aws:kms:a:111122223333:key/k"), true},
		{allow("kms:CreateGrant", "arn:aws:kms:a:111122223333:key/k"), true},
		{allow("kms:Encrypt", "arn:aws:kms:a:111122223333:key/k"), false},
		{allow("organizations:DescribeOrganization", "*"), true},
		{allow("s3:PutObject", "*"), true},
		{allow("s3:PutObject", "arn:*:*:*:*:*"), true},
		{allow("ec2:RunInstances", "*"), true},
		{allow("s3:PutObject", objects), false},
		{allow("s3:GetObject", "*"), false},
		{allow("ec2:Describe*", "*"), false},
		{allow("ec2:D*", "*"), true},
		{denied, false},
		{permission.Atom{Cloud: permission.Azure, Kind: permission.KindRole, Value: "owner"}, true},
		{permission.Atom{Cloud: permission.Azure, Kind: permission.KindRole, Value: "Contributor"}, true},
		{permission.Atom{Cloud: permission.Azure, Kind: permission.KindRole, Value: "User Access Administrator"}, true},
		{permission.Atom{Cloud: permission.Azure, Kind: permission.KindPermission, Value: "*"}, true},
		{permission.Atom{Cloud: permission.Azure, Kind: permission.KindRole, Value: "Reader"}, false},
		{permission.Atom{Cloud: permission.GCP, Kind: permission.KindRole, Value: "roles/owner"}, true},
		{permission.Atom{Cloud: permission.GCP, Kind: permission.KindRole, Value: "roles/editor"}, true},
		{permission.Atom{Cloud: permission.GCP, Kind: permission.KindRole, Value: "roles/viewer"}, false},
		{permission.Atom{Cloud: permission.GCP, Kind: permission.KindPermission, Value: "resourcemanager.projects.setIamPolicy"}, true},
		{permission.Atom{Cloud: permission.GCP, Kind: permission.KindPermission, Value: "iam.serviceAccounts.actAs"}, true},
		{permission.Atom{Cloud: permission.GCP, Kind: permission.KindPermission, Value: "iam.serviceAccounts.getAccessToken"}, true},
	} {
		if got := row.atom.Marks(); (len(got) > 0) != row.want {
			t.Errorf("%+v: marks %q, want some: %v", row.atom, got, row.want)
		}
	}
}

func TestWhatIsSensitiveComesFirst(t *testing.T) {
	set := declared("[" + request(accounts, entry(objects, "s3:GetObject"), entry("*", "sts:AssumeRole")) + "]")
	want := []string{
		"may call sts:AssumeRole on every resource",
		"may read objects (s3:GetObject) of " + objects,
		"ServiceAccount $(NAMESPACE)/operator becomes the role by tokens for the audience openshift (assumed: no source tells)",
	}
	if diff := cmp.Diff(want, texts(set)); diff != "" {
		t.Error(diff)
	}
	d := permission.Diff(set, declared("["+request(accounts, entry(objects, "s3:PutObject"))+"]"))
	if got := d.Changes[0]; got.Class != permission.ClassRemoved || len(got.Marks) == 0 {
		t.Errorf("the first change is %+v", got)
	}
	partly := declared("[" + request(accounts, entry(objects, "s3:GetObject", "x")) + "]")
	if !slices.ContainsFunc(texts(partly), func(s string) bool { return strings.Contains(s, "could not be read") }) {
		t.Errorf("%q", texts(partly))
	}
}

func TestOfSeveralSourcesTheFirstThatAnswersIsUsed(t *testing.T) {
	live := func(text string) permission.Set {
		set := permission.ReadFiles(subject, permission.SourceBundle, "bundle", []permission.File{{Name: "f", Text: []byte(text)}})
		set.Source.Kind = permission.SourceLive
		return set
	}
	same := live(strings.Replace(request(accounts, entry(objects, "s3:getobject")), permission.InstallNamespace, "team", 1))
	other := live(strings.Replace(request(accounts, entry(objects, "s3:PutObject")), permission.InstallNamespace, "team", 1))
	given := files(permission.File{Name: "f", Text: []byte(request(accounts, entry(queue, "sqs:SendMessage")))})
	for name, row := range map[string]struct {
		namespace string
		sources   []permission.Set
		want      permission.SourceKind
		findings  []string
		says      string
	}{
		"none":                            {"", nil, permission.SourceNone, []string{}, ""},
		"one":                             {"", []permission.Set{permission.Nothing(subject), old()}, permission.SourceAnnotation, []string{}, ""},
		"two that agree":                  {"team", []permission.Set{same, old()}, permission.SourceAnnotation, []string{}, ""},
		"two that agree nowhere known":    {"", []permission.Set{same, old()}, permission.SourceAnnotation, []string{"SourcesDisagree "}, "ServiceAccount team/operator"},
		"two that do not":                 {"team", []permission.Set{other, old()}, permission.SourceAnnotation, []string{"SourcesDisagree "}, "only the second says: p may write objects (s3:PutObject) of"},
		"a given one before all":          {"team", []permission.Set{old(), given}, permission.SourceRequests, []string{"SourcesDisagree "}, "sqs:SendMessage"},
		"one that cannot be read":         {"team", []permission.Set{declared("{"), same}, permission.SourceLive, []string{"InvalidJSON "}, ""},
		"nothing asked for, and the live": {"team", []permission.Set{declared("[]"), same}, permission.SourceAnnotation, []string{"SourcesDisagree "}, "s3:getobject"},
	} {
		t.Run(name, func(t *testing.T) {
			set := permission.Choose(subject, row.namespace, row.sources...)
			if diff := cmp.Diff(row.findings, codes(set)); diff != "" || set.Source.Kind != row.want {
				t.Error(diff, set.Source)
			}
			for _, f := range set.Findings {
				if !strings.Contains(f.Message, row.says) {
					t.Errorf("%q does not say %q", f.Message, row.says)
				}
			}
		})
	}
}
