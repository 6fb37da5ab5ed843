package node

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/tabard-dev/tabard/internal/testkit/must"
)

func TestIdleControllersAreThoseThatAreOff(t *testing.T) {
	for name, test := range map[string]struct {
		there, on string
		want      []string
	}{
		"some":           {"cpuset cpu io memory hugetlb pids rdma misc\n", "cpu io memory pids\n", []string{"cpuset", "hugetlb", "rdma", "misc"}},
		"all":            {"cpu memory\n", "\n", []string{"cpu", "memory"}},
		"none":           {"cpu memory\n", "memory cpu\n", []string{}},
		"no controllers": {"\n", "\n", []string{}},
	} {
		t.Run(name, func(t *testing.T) {
			root := t.TempDir()
			for file, content := range map[string]string{"cgroup.controllers": test.there, switches: test.on} {
				must.Do(t, os.WriteFile(filepath.Join(root, file), []byte(content), 0o600))
			}
			got, err := idle(root)
			if diff := cmp.Diff(test.want, got); diff != "" || err != nil {
				t.Errorf("%v (-want +got):\n%s", err, diff)
			}
		})
	}
	if _, err := idle(t.TempDir()); err == nil {
		t.Error("no error without the files")
	}
}
