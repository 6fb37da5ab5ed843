package main

import (
	"context"
	"os"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/service/iam"
	"github.com/aws/aws-sdk-go-v2/service/s3"
	"github.com/aws/aws-sdk-go-v2/service/sts"
	"github.com/google/go-cmp/cmp"

	"github.com/tabard-dev/tabard/awslocal"
	"github.com/tabard-dev/tabard/internal/testkit/must"
)

// TestTheSDKHasAFileForEachOperation compares the files with the methods of the
// clients that are quick to compile.
func TestTheSDKHasAFileForEachOperation(t *testing.T) {
	for service, client := range map[string]any{"iam": &iam.Client{}, "s3": &s3.Client{}, "sts": &sts.Client{}} {
		var want []string
		kind := reflect.TypeOf(client)
		for i := range kind.NumMethod() {
			if isOperation(kind.Method(i)) {
				want = append(want, kind.Method(i).Name)
			}
		}
		got := must.Get(sdkOperations(t.Context(), service))(t)
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s (-methods +files):\n%s", service, diff)
		}
	}
}

// isOperation says whether a method has the form of one that calls AWS.
func isOperation(m reflect.Method) bool {
	return m.Type.NumIn() == 4 && m.Type.In(1) == reflect.TypeFor[context.Context]() &&
		m.Type.In(2).Kind() == reflect.Pointer && m.Type.In(2).Elem().Name() == m.Name+"Input"
}

func TestThePageListsEveryOperationThatIsPlayed(t *testing.T) {
	page := must.Get(awslocalPage(t.Context()))(t)
	for service, operations := range awslocal.Operations() {
		_, section, found := strings.Cut(page, "(`"+service+"`)\n")
		if !found {
			t.Fatalf("the page has no section on %s", service)
		}
		section, _, _ = strings.Cut(section, "\n## ")
		for _, operation := range operations {
			if strings.Count(section, "| `"+operation+"` |") != 1 {
				t.Errorf("%s:%s has no row, or several", service, operation)
			}
		}
	}
}

func TestASectionComparesWhatIsPlayedWithWhatAWSHas(t *testing.T) {
	s := awsService{name: "x", notes: map[string]string{"GetOne": "quick", "PutOther": "of another SDK package"}}
	got := must.Get(s.section([]string{"GetOne", "ListAll", "PutOther"}, []string{"DeleteAll", "GetOne", "ListAll"}))(t)
	want := awsSection{
		Name: "x", Of: 3, Missing: []string{"DeleteAll"},
		Rows: []awsRow{{"GetOne", "quick"}, {"ListAll", ""}, {"PutOther", "of another SDK package"}},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("section (-want +got):\n%s", diff)
	}
	for name, played := range map[string][]string{
		"an operation that AWS does not have": {"GetOne", "PutOther", "GetTwo"},
		"a note on nothing":                   {"GetOne"},
	} {
		if got, err := s.section(played, []string{"GetOne"}); err == nil {
			t.Errorf("%s gives %+v, want an error", name, got)
		}
	}
}

func TestGroupsCountByTheFirstWord(t *testing.T) {
	if got, want := groups([]string{"GetA", "DescribeB", "DescribeC", "Run"}), "2 Describe…, 1 Get…, 1 Run…"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

// TestThePageHasEveryRequestOfTheAdminAPI reads the routes from their source.
func TestThePageHasEveryRequestOfTheAdminAPI(t *testing.T) {
	source := must.Get(os.ReadFile("../../awslocal/adminapi.go"))(t)
	var want []string
	for _, m := range regexp.MustCompile(`HandleFunc\("([A-Z]+) "\+adminPath\+"([^"]*)"`).FindAllStringSubmatch(string(source), -1) {
		want = append(want, m[1]+" "+m[2])
	}
	var got []string
	_, table, _ := strings.Cut(awslocalTemplate, "## The admin API")
	for _, m := range regexp.MustCompile("(?m)^\\| `([A-Z]+ [^`]+)` \\|").FindAllStringSubmatch(table, -1) {
		got = append(got, m[1])
	}
	slices.Sort(want)
	slices.Sort(got)
	if diff := cmp.Diff(want, got); diff != "" || len(want) == 0 {
		t.Errorf("requests (-routes +page):\n%s", diff)
	}
}
