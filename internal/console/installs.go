package console

import (
	"cmp"
	"context"
	"fmt"
	"net/http"
	"slices"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/validation"

	"github.com/tabard-dev/tabard/internal/console/api"
	"github.com/tabard-dev/tabard/internal/core/line"
	"github.com/tabard-dev/tabard/internal/core/operator"
)

// installs are the installs of the namespaces that the person may read.
func (s *Server) installs(r *http.Request) (any, error) {
	q := queryOf(r)
	if err := q.err(); err != nil {
		return nil, err
	}
	if !s.World.HasCluster() {
		return nil, noCluster()
	}
	found, partly, err := s.subscriptions(r.Context())
	if err != nil {
		return nil, err
	}
	out := api.Installs{Items: []api.InstallRow{}, Partly: partly, ReadAt: time.Now(), Command: s.command("operators status -A")}
	client := s.World.OLM.Once()
	for _, one := range found {
		objects, err := client.Observe(r.Context(), operator.Follow(one))
		if err != nil {
			if r.Context().Err() != nil {
				// What was read by then is better than nothing.
				out.Partly = append(out.Partly, fmt.Sprintf("The cluster is slow: only %d of %d installs could be read in time.", len(out.Items), len(found)))
				break
			}
			out.Partly = append(out.Partly, fmt.Sprintf("%s/%s: %s", one.Namespace, one.Name, line.Of(err.Error())))
			continue
		}
		out.Items = append(out.Items, rowOf(operator.StatusOf(one, objects, out.ReadAt)))
	}
	slices.SortFunc(out.Items, func(a, b api.InstallRow) int {
		return cmp.Or(cmp.Compare(a.Namespace, b.Namespace), cmp.Compare(a.Subscription, b.Subscription))
	})
	return out, nil
}

// subscriptions are those of the namespaces that the person may read. partly says what they may not.
func (s *Server) subscriptions(ctx context.Context) (out []operator.Subscription, partly []string, err error) {
	return ofNamespaces(ctx, s, "Subscriptions", s.World.OLM.List)
}

// ofNamespaces lists something in all namespaces (of which the name is empty), or for who may not do that in
// those in which they may. partly says where they may not.
func ofNamespaces[T any](ctx context.Context, s *Server, kinds string, list func(ctx context.Context, namespace string) ([]T, error)) (out []T, partly []string, err error) {
	partly = []string{}
	out, err = list(ctx, "")
	if !apierrors.IsForbidden(err) {
		return out, partly, err
	}
	out = nil
	namespaces, why, wrong := s.namespaces(ctx, kinds)
	if wrong != nil {
		return nil, nil, wrong
	}
	if why != "" {
		partly = append(partly, why)
	}
	read, refused := 0, 0
	for _, namespace := range namespaces {
		found, err := list(ctx, namespace)
		switch {
		case ctx.Err() != nil:
			return nil, nil, err
		case err == nil:
			out, read = append(out, found...), read+1
		default:
			if refused++; refused <= mostFindings {
				partly = append(partly, namespace+": "+line.Of(err.Error()))
			}
		}
	}
	if read == 0 {
		return nil, nil, err
	}
	if more := refused - mostFindings; more > 0 {
		partly = append(partly, "and "+line.Count(more, "more namespace", "more namespaces"))
	}
	return out, partly, nil
}

// mostNamespaces bounds how many namespaces are asked one by one.
const mostNamespaces = 200

// namespaces are those of the cluster, or for who may not list them the one of the kubeconfig, which is always
// the first. why says why there may be others, with the kinds that are listed in them.
func (s *Server) namespaces(ctx context.Context, kinds string) (names []string, why string, err error) {
	own := s.World.Namespace
	resource := schema.GroupVersionResource{Version: "v1", Resource: "namespaces"}
	found, err := s.World.OLM.Objects.Resource(resource).List(ctx, metav1.ListOptions{Limit: mostNamespaces})
	switch {
	case apierrors.IsForbidden(err):
		return []string{own}, "You may not list the namespaces of the cluster: which " + kinds + " are in others than " + own + " is not known.", nil
	case err != nil:
		return nil, "", err
	}
	if own != "" {
		names = append(names, own)
	}
	for _, one := range found.Items {
		if one.GetName() != own {
			names = append(names, one.GetName())
		}
	}
	if found.GetContinue() != "" {
		why = fmt.Sprintf("You may not list %s of all namespaces, and there are many: only %d were asked one by one.", kinds, len(names))
	}
	return names, why, nil
}

func rowOf(s operator.Status) api.InstallRow {
	last := s.Last()
	return api.InstallRow{
		Namespace: s.Namespace, Subscription: s.Subscription, Package: s.Package, CSV: s.CSV, Installed: s.Installed, Next: s.Next, Role: s.Role,
		Stage: last, Of: s.Of, NeedsYou: s.Next != "" || last.State == operator.YourTurn || last.State == operator.Failed,
	}
}

// install is one install.
func (s *Server) install(r *http.Request) (any, error) {
	q := queryOf(r)
	if err := q.err(); err != nil {
		return nil, err
	}
	return s.installOf(r.Context(), r.PathValue("namespace"), r.PathValue("name"))
}

// subscription is the one with a name, and those of its namespace.
func (s *Server) subscription(ctx context.Context, namespace, name string) (one operator.Subscription, all []operator.Subscription, err error) {
	if !s.World.HasCluster() {
		return one, nil, noCluster()
	}
	if wrong := validation.IsDNS1123Label(namespace); len(wrong) > 0 {
		return one, nil, wrongField("namespace", namespace, "the name of a namespace: "+wrong[0])
	}
	if all, err = s.World.OLM.List(ctx, namespace); err != nil {
		return one, nil, err
	}
	at := slices.IndexFunc(all, func(s operator.Subscription) bool { return s.Name == name })
	if at < 0 {
		return one, nil, &Problem{Status: http.StatusNotFound, Code: "subscription", Title: "There is no such install",
			Detail: fmt.Sprintf("the namespace %.80q has no Subscription %.260q; it may have been deleted", namespace, name), Next: []string{s.command("operators status -A")}}
	}
	return all[at], all, nil
}

// installOf is one install with all that is seen of it.
func (s *Server) installOf(ctx context.Context, namespace, name string) (*api.InstallDetail, error) {
	one, all, err := s.subscription(ctx, namespace, name)
	if err != nil {
		return nil, err
	}
	objects, err := s.World.OLM.Observe(ctx, operator.Follow(one))
	if err != nil {
		return nil, err
	}
	now := time.Now()
	status := operator.StatusOf(one, objects, now)
	values, _ := operator.ValuesOf(one)
	out := &api.InstallDetail{
		InstallRow: rowOf(status), Channel: one.Channel, Source: one.SourceNamespace + "/" + one.Source, Approval: one.Approval,
		Stages: status.Stages, StageNames: operator.StageNames(objects), Values: values, Neighbours: []string{}, ReadAt: now,
		Command: s.command(about("operators status", name, flag("namespace", namespace))),
	}
	if out.Values == nil {
		out.Values = map[string]string{}
	}
	for _, other := range all {
		if other.Name != name {
			out.Neighbours = append(out.Neighbours, other.Name)
		}
	}
	if waits := waitingFor(one, objects); waits != nil {
		out.Waiting = waits.Name
	}
	return out, nil
}

// waitingFor is the plan that waits for a Subscription: for its install, or for its upgrade.
func waitingFor(one operator.Subscription, o *operator.Objects) *operator.Plan {
	next := *o
	next.CSV, next.Wanted.CSV = nil, one.CurrentCSV
	return next.Waiting()
}
