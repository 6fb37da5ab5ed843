package console

import (
	"cmp"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/tabard-dev/tabard/internal/console/api"
	"github.com/tabard-dev/tabard/internal/core/chain"
	"github.com/tabard-dev/tabard/internal/core/line"
)

// pods is a page of the pods of the namespaces that the person may read.
func (s *Server) pods(r *http.Request) (any, error) {
	const columns = `NAMESPACE:.metadata.namespace,NAME:.metadata.name,SERVICEACCOUNT:.spec.serviceAccountName,PHASE:.status.phase,ROLE:.spec.containers[*].env[?(@.name=="AWS_ROLE_ARN")].value`
	asked, read, at, err := s.readWorkloads(r)
	if err == nil {
		err = read.podsErr
	}
	if err != nil {
		return nil, err
	}
	out := api.Pods{Listed: read.listed(at, append(slices.Clone(read.partlyPods), read.partlyAccounts...))}
	out.Items = pageOf(asked, read.pods, keysOfPod, &out.Listed)
	out.Command = s.kubectlGet("pods", asked.namespace, columns)
	return out, nil
}

// serviceAccounts is a page of the ServiceAccounts of the namespaces that the person may read.
func (s *Server) serviceAccounts(r *http.Request) (any, error) {
	const columns = `NAMESPACE:.metadata.namespace,NAME:.metadata.name,ROLE:.metadata.annotations.eks\.amazonaws\.com/role-arn`
	asked, read, at, err := s.readWorkloads(r)
	if err == nil {
		err = read.accountsErr
	}
	if err != nil {
		return nil, err
	}
	out := api.Accounts{Listed: read.listed(at, slices.Clone(read.partlyAccounts))}
	out.Items = pageOf(asked, read.accounts, keysOfAccount, &out.Listed)
	out.Command = s.kubectlGet("serviceaccounts", asked.namespace, columns)
	return out, nil
}

// kubectlGet is the command whose output is nearest to a list: it has the same objects with the role of each,
// and no judgement.
func (s *Server) kubectlGet(resource, namespace, columns string) string {
	where := " -A"
	if namespace != "" {
		where = " -n " + line.Word(namespace)
	}
	return "kubectl get " + resource + where + " -o custom-columns=" + line.Quoted(columns) + s.World.ClusterFlags
}

// readWorkloads is what is asked of a list of the cluster's workloads, and what is kept of these.
func (s *Server) readWorkloads(r *http.Request) (asked askedWorkloads, read *workloads, at time.Time, err error) {
	if asked, err = workloadsAskedBy(r); err != nil {
		return asked, nil, at, err
	}
	if !s.World.HasCluster() {
		return asked, nil, at, noCluster()
	}
	read, at, err = s.workloads.get(r.Context())
	return asked, read, at, err
}

// askedWorkloads is what a person asks of a list of workloads.
type askedWorkloads struct {
	search, namespace, sort string
	standing                chain.Standing
	page, limit             int
}

// workloadsAskedBy reads what a request asks.
func workloadsAskedBy(r *http.Request) (askedWorkloads, error) {
	q := queryOf(r, "search", "namespace", "standing", "sort", "page", "limit")
	var standings, sorts []string
	for _, standing := range chain.Standings() {
		standings = append(standings, string(standing))
	}
	for _, by := range []string{"standing", "namespace", "name", "role"} {
		sorts = append(sorts, by, "-"+by)
	}
	return askedWorkloads{
		search: strings.ToLower(q.text("search")), namespace: q.text("namespace"), sort: q.oneOf("sort", sorts...),
		standing: chain.Standing(q.oneOf("standing", standings...)),
		page:     q.number("page", 1, mostPages, 1), limit: q.number("limit", fewestRows, mostRows, usualRows),
	}, q.err()
}

// keys are what a row is filtered and sorted by.
type keys struct {
	namespace, name, account string
	*chain.Identity
}

func keysOfPod(row *api.PodRow) keys {
	return keys{row.Namespace, row.Name, row.ServiceAccount, &row.Identity}
}

func keysOfAccount(row *api.AccountRow) keys {
	return keys{row.Namespace, row.Name, "", &row.Identity}
}

// pageOf are the rows of a page, and says in what is known of the list how many there are.
func pageOf[T any](asked askedWorkloads, rows []T, keysOf func(*T) keys, listed *api.Listed) []T {
	namespaces, standings := map[string]int{}, map[chain.Standing]int{}
	var left []*T
	for i := range rows {
		of := keysOf(&rows[i])
		namespaces[of.namespace]++
		standings[of.Standing]++
		if asked.leaves(of) {
			left = append(left, &rows[i])
		}
	}
	by, reverse := strings.CutPrefix(asked.sort, "-")
	slices.SortStableFunc(left, func(a, b *T) int {
		x, y := keysOf(a), keysOf(b)
		if reverse {
			x, y = y, x
		}
		return compareWorkloads(by, x, y)
	})
	listed.Facets = []api.Facet{standingFacet(standings), facetOf("namespace", "Namespace", namespaces, mostNamespaceValues)}
	listed.Matching, listed.Total, listed.Page, listed.Limit = len(left), len(rows), asked.page, asked.limit
	from := min((asked.page-1)*asked.limit, len(left))
	out := []T{}
	for _, row := range left[from:min(from+asked.limit, len(left))] {
		out = append(out, *row)
	}
	return out
}

// leaves says that a row is asked for.
func (a askedWorkloads) leaves(of keys) bool {
	if a.namespace != "" && of.namespace != a.namespace || a.standing != "" && of.Standing != a.standing {
		return false
	}
	for _, text := range []string{of.namespace + "/" + of.name, of.account, of.Role, of.Has, of.By} {
		if strings.Contains(strings.ToLower(text), a.search) {
			return true
		}
	}
	return false
}

// compareWorkloads compares by one of the orders, and then by namespace and name. Without one, the worst is
// the first.
func compareWorkloads(by string, x, y keys) int {
	first := 0
	switch by {
	case "", "standing":
		order := chain.Standings()
		first = cmp.Compare(slices.Index(order, x.Standing), slices.Index(order, y.Standing))
	case "name":
		first = cmp.Compare(x.name, y.name)
	case "role":
		first = cmp.Compare(x.Role, y.Role)
	}
	return cmp.Or(first, cmp.Compare(x.namespace, y.namespace), cmp.Compare(x.name, y.name))
}

// standingFacet has all standings, the worst first.
func standingFacet(counts map[chain.Standing]int) api.Facet {
	out := api.Facet{Name: "standing", Label: "State"}
	for _, standing := range chain.Standings() {
		label := ""
		switch standing {
		case chain.Without:
			label = "Without its role"
		case chain.Unknown:
			label = "Not known"
		case chain.Given:
			label = "Has its role"
		case chain.Nobody:
			label = "No role asked for"
		}
		out.Values = append(out.Values, api.FacetValue{Value: string(standing), Label: label, Count: counts[standing]})
	}
	return out
}
