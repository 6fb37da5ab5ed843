// Package version holds the command "tabard version": what this program is, what runs in the
// cluster, and whether the two fit.
package version

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	k8sversion "k8s.io/apimachinery/pkg/util/version"

	"github.com/tabard-dev/tabard/internal/cli/command"
)

// Program is what a program knows of itself.
type Program struct {
	// Version is that of the release, devel for none.
	Version string `json:"version"`
	// Commit is the commit that was built, empty if that is not known; CommitDate is its time.
	Commit     string `json:"commit,omitempty"`
	CommitDate string `json:"commitDate,omitempty"`
	Go         string `json:"go"`
	Platform   string `json:"platform"`
}

// Workload is a Deployment of Tabard's.
type Workload struct {
	Namespace string `json:"namespace"`
	Name      string `json:"name"`
	// Version is the tag of its image.
	Version string `json:"version"`
}

// Kind is a kind of Tabard's that the cluster serves or not.
type Kind struct {
	Name string `json:"name"`
	// Version is the API version that this program speaks.
	Version string `json:"version"`
	// Served are the versions that the cluster serves, none where the kind is not installed.
	Served []string `json:"served,omitempty"`
}

// Cluster is what is installed.
type Cluster struct {
	Kubernetes string     `json:"kubernetes"`
	Workloads  []Workload `json:"workloads,omitempty"`
	Kinds      []Kind     `json:"kinds,omitempty"`
}

// Report is the whole answer.
type Report struct {
	command.Meta `json:",inline"`

	Client  Program  `json:"client"`
	Cluster *Cluster `json:"cluster,omitempty"`
	// Problems say what does not fit; none where all does.
	Problems []string `json:"problems,omitempty"`
}

// Ask reads what is installed in a cluster.
type Ask func(ctx context.Context, kubeconfig *command.Kubeconfig) (*Cluster, error)

const long = `Prints the version of this program, and of what runs in the cluster of the kubeconfig: the
Deployments by their images, and which of Tabard's kinds are served.

The program and the operator fit if their minor versions differ by one at most. A kind fits if
the cluster serves the API version that this program speaks.

Exit codes: 0 all fits, or there is no kubeconfig and so no cluster to ask; 1 something does not
fit, or the cluster gives no answer; 2 the flags or the kubeconfig cannot be used.`

// New makes the command.
func New(streams command.Streams, program Program, ask Ask) *cobra.Command {
	var kubeconfig command.Kubeconfig
	var client bool
	var output command.Output
	out := &cobra.Command{
		Use:     "version",
		Short:   "Print the versions of this program and of what runs in the cluster, and whether they fit",
		Long:    long,
		Example: "  tabard version\n  tabard version --client -o json",
		Args:    command.NoArgs(streams),
		RunE: command.Spoken(streams, func(c *cobra.Command, _ []string) error {
			if err := output.Check(); err != nil {
				return err
			}
			report := Report{Meta: command.MetaOf("Versions"), Client: program}
			var unasked error
			if !client {
				if report.Cluster, unasked = ask(c.Context(), &kubeconfig); unasked != nil {
					fmt.Fprintf(streams.Err, "tabard: the cluster was not asked: %v\n", command.Shown(unasked))
				}
			}
			report.Problems = problems(report)
			if err := streams.PrintAs(output, command.Printed{Document: report, Text: report.table}); err != nil {
				return err
			}
			return end(report, unasked)
		}),
	}
	kubeconfig.AddFlags(out.Flags())
	out.Flags().BoolVar(&client, "client", false, "this program only; no cluster is asked")
	output.AddFlags(out)
	return out
}

// end is how the command ends after its report; of unasked the person has been told.
func end(r Report, unasked error) error {
	switch {
	case len(r.Problems) > 0:
		return &command.Exit{Code: command.Found, What: strings.Join(r.Problems, "; ")}
	case unasked == nil || command.IsNoCluster(unasked):
		return nil
	}
	return &command.Exit{Code: command.CodeOf(unasked, command.Found), What: unasked.Error()}
}

// problems is the decision: what of a cluster does not fit the program.
func problems(r Report) (out []string) {
	if r.Cluster == nil {
		return nil
	}
	for _, w := range r.Cluster.Workloads {
		if !fit(r.Client.Version, w.Version) {
			out = append(out, fmt.Sprintf("Deployment %s/%s is %s and this program %s: their minor versions may differ by one at most", w.Namespace, w.Name, w.Version, r.Client.Version))
		}
	}
	for _, k := range r.Cluster.Kinds {
		if len(k.Served) > 0 && !slices.Contains(k.Served, k.Version) {
			out = append(out, fmt.Sprintf("%s is served as %s and this program speaks %s: upgrade the older of the two", k.Name, strings.Join(k.Served, ", "), k.Version))
		}
	}
	return out
}

// fit says that two versions may work together. Of one that is no release that is not known,
// and is not held against it.
func fit(one, other string) bool {
	a, errA := k8sversion.ParseSemantic(one)
	b, errB := k8sversion.ParseSemantic(other)
	if errA != nil || errB != nil {
		return true
	}
	apart := int64(a.Minor()) - int64(b.Minor()) //nolint:gosec // no minor version is that large
	return a.Major() == b.Major() && apart >= -1 && apart <= 1
}

func (r Report) table() string {
	var rows [][]string
	row := func(name, value string) { rows = append(rows, []string{name, value}) }
	row("tabard", r.Client.Version)
	if r.Client.Commit != "" {
		row("commit", strings.TrimSpace(r.Client.Commit+" "+r.Client.CommitDate))
	}
	row("built with", r.Client.Go+" for "+r.Client.Platform)
	if c := r.Cluster; c != nil {
		row("Kubernetes", c.Kubernetes)
		for _, w := range c.Workloads {
			row(w.Namespace+"/"+w.Name, w.Version)
		}
		for _, k := range c.Kinds {
			served := "not installed"
			if len(k.Served) > 0 {
				served = strings.Join(k.Served, ", ")
			}
			row(k.Name, served)
		}
	}
	text := command.Table(rows)
	for _, problem := range r.Problems {
		text += "does not fit: " + command.Plain(problem) + "\n"
	}
	return text
}
