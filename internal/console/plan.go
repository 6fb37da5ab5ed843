package console

import (
	"context"
	"fmt"
	"net/http"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/util/validation"
	"sigs.k8s.io/yaml"

	"github.com/tabard-dev/tabard/internal/console/api"
	"github.com/tabard-dev/tabard/internal/core/catalogue"
	"github.com/tabard-dev/tabard/internal/core/line"
	"github.com/tabard-dev/tabard/internal/core/operator"
	"github.com/tabard-dev/tabard/internal/core/sufficiency"
	"github.com/tabard-dev/tabard/internal/olm"
	"github.com/tabard-dev/tabard/internal/olm/installing"
)

// planner reads what an install is decided by.
func (s *Server) planner(pasted string) (installing.Planner, error) {
	if !s.World.HasCluster() {
		return installing.Planner{}, noCluster()
	}
	return s.judge(pasted), nil
}

// judge reads what a role is judged by, also without a cluster. Documents that somebody pasted take the place of
// those in AWS.
func (s *Server) judge(pasted string) installing.Planner {
	out := installing.Planner{Client: s.World.OLM, RoleDocuments: s.World.RoleDocuments}
	if strings.TrimSpace(pasted) != "" {
		out.Given = func(arn string) (sufficiency.Documents, error) { return documentsOf(pasted, arn) }
	}
	return out
}

// choice is the install that a person wants.
func (s *Server) choice(ctx context.Context, question api.InstallQuestion, partition string) (installing.Choice, error) {
	p, b, err := s.version(ctx, question.Operator, question.Version)
	if err != nil {
		return installing.Choice{}, err
	}
	out := installing.Choice{
		Package: p, Bundle: b, Channel: question.Channel, Namespace: question.Namespace, Watched: question.Watched,
		WithoutRole: question.WithoutRole, Force: question.Force,
	}
	modes := map[string]string{"": "", "all": "AllNamespaces", "own": "OwnNamespace", "single": "SingleNamespace"}
	approvals := map[string]string{"manual": operator.Manual, "automatic": operator.Automatic}
	var known bool
	if out.InstallMode, known = modes[question.Mode]; !known {
		return out, wrongField("mode", question.Mode, "all, own or single")
	}
	if out.Approval, known = approvals[question.Approval]; !known {
		return out, wrongField("approval", question.Approval, "manual or automatic")
	}
	if wrong := validation.IsDNS1123Label(question.Namespace); question.Namespace != "" && len(wrong) > 0 {
		return out, wrongField("namespace", question.Namespace, "the name of a namespace: "+wrong[0])
	}
	if wrong := validation.IsDNS1123Label(question.Watched); (question.Mode == "single") != (question.Watched != "") || question.Watched != "" && len(wrong) > 0 {
		return out, wrongField("watched", question.Watched, "the name of a namespace with the mode single, and nothing with others")
	}
	if question.Role == nil {
		return out, nil
	}
	if question.WithoutRole {
		return out, wrongField("withoutRole", "true", "it without a role")
	}
	out.Values, err = valuesOf(*question.Role, partition)
	return out, err
}

func wrongField(name, value, expected string) *Problem {
	return &Problem{Status: http.StatusBadRequest, Code: "field", Field: name, Title: "The request cannot be read", Detail: fmt.Sprintf("the field %s is %.80q, expected %s", name, value, expected)}
}

// planned is what an install would do.
func (s *Server) planned(ctx context.Context, question api.InstallQuestion) (planned plannedInstall, client olm.Client, err error) {
	planner, err := s.planner(question.Documents)
	if err != nil {
		return planned, client, err
	}
	seen, err := s.seen(ctx)
	if err != nil {
		return planned, client, err
	}
	choice, err := s.choice(ctx, question, seen.Partition())
	if err != nil {
		return planned, client, err
	}
	planned.of = choice.Package
	planned.Planned, err = planner.Plan(ctx, seen.Decide(), choice)
	return planned, planner.Client, err
}

// plannedInstall is what an install of a package would do.
type plannedInstall struct {
	installing.Planned
	of *catalogue.Package
}

// installPlan answers what an install would do. Nothing is written.
func (s *Server) installPlan(r *http.Request) (any, error) {
	var question api.InstallQuestion
	if err := readBody(r, &question); err != nil {
		return nil, err
	}
	planned, _, err := s.planned(r.Context(), question)
	if err != nil {
		return nil, err
	}
	digest, err := planned.Digest()
	if err != nil {
		return nil, err
	}
	manifests, err := manifestsOf(planned.Missing)
	if err != nil {
		return nil, err
	}
	judged := planned.Judged
	out := api.InstallPlan{
		Digest: digest, Changes: []api.Change{}, Manifests: manifests, Judgement: judgementOf(judged), MayPass: judged.Verdict.MayPass(),
		Accept: acceptOf(judged.Verdict, judged.Digest), Neighbours: append([]string{}, planned.Neighbours()...), Warnings: []string{}, Command: s.command(installCommand(planned.of, question, planned.Planned)),
	}
	for _, change := range planned.Changes {
		out.Changes = append(out.Changes, api.Change{Kind: string(change.Kind), Name: change.Name, Exists: change.Exist, Sentence: change.Sentence})
	}
	if planned.Install.Approval == operator.Automatic {
		out.Warnings = append(out.Warnings, "OLM upgrades the operator by itself, also to a version that asks for permissions that the role does not have.")
	}
	return out, nil
}

// acceptOf is what takes the risk of a verdict; empty where there is none.
func acceptOf(verdict operator.Verdict, digest string) string {
	switch {
	case verdict.MayPass():
		return ""
	case verdict == operator.VerdictMissing && digest != "":
		return installing.AcceptMissing + digest
	}
	return installing.AcceptUnknown
}

func manifestsOf(all []*unstructured.Unstructured) (string, error) {
	var out []string
	for _, one := range all {
		text, err := yaml.Marshal(one.Object)
		if err != nil {
			return "", err
		}
		out = append(out, string(text))
	}
	return strings.Join(out, "---\n"), nil
}

// installCommand does the same.
func installCommand(p *catalogue.Package, question api.InstallQuestion, planned installing.Planned) string {
	i := planned.Install
	out := flag("namespace", i.Namespace) + flag("source", i.SourceNamespace+"/"+i.Source)
	// A command takes a version or a channel, and not both: of a channel it takes the head.
	if head, ok := p.Channel(question.Channel); ok && head.Head == i.CSV {
		out += flag("channel", question.Channel)
	} else {
		out += flag("version", question.Version)
	}
	if question.Mode != "" {
		mode := question.Mode
		if mode == "single" {
			mode += "=" + question.Watched
		}
		out += flag("install-mode", mode)
	}
	if i.Approval == operator.Automatic {
		out += " --approval automatic"
	}
	if question.Role != nil {
		out += roleFlags(*question.Role)
	}
	if question.WithoutRole {
		out += " --without-role"
	}
	if question.Force {
		out += " --force"
	}
	return about("operators install", i.Package, out+documentsFlag(question.Documents)+flag("accept", acceptOf(planned.Judged.Verdict, planned.Judged.Digest))+" --wait")
}

// documentsFlag is for documents that were pasted: a command reads them from files.
func documentsFlag(pasted string) string {
	if strings.TrimSpace(pasted) == "" {
		return ""
	}
	return " --role-documents DIR"
}

// roleFlags are those that give the same role.
func roleFlags(role api.Role) string {
	out := flag("role-arn", role.ARN)
	if a := role.Azure; a != nil {
		out += flag("azure-client-id", a.Client) + flag("azure-tenant-id", a.Tenant) + flag("azure-subscription-id", a.Subscription) +
			flag("azure-resource-group", a.ResourceGroup) + flag("azure-region", a.Region)
	}
	if g := role.GCP; g != nil {
		out += flag("gcp-audience", g.Audience) + flag("gcp-service-account", g.ServiceAccount)
	}
	return out
}

// changed is the answer to who goes on with what is no longer so.
func changed(what string) *Problem {
	return &Problem{Status: http.StatusConflict, Code: "changed", Title: "This has changed since you looked", Detail: what + " Nothing was written."}
}

// mayWrite refuses what writes in a console that only reads.
func (s *Server) mayWrite() error {
	if s.ReadOnly {
		return &Problem{Status: http.StatusForbidden, Code: "readOnly", Title: "This console only reads", Detail: "It was started with --read-only. Nothing was written.", Next: []string{"tabard console"}}
	}
	return nil
}

// untilWritten is the time that a write has. It does not end with the browser: an install that is cut
// off between two objects leaves one without the other.
func untilWritten(r *http.Request) (context.Context, context.CancelFunc) {
	return context.WithTimeout(context.WithoutCancel(r.Context()), answerWithin)
}

// installNow installs what a person has seen planned, and follows it until its plan is approved.
func (s *Server) installNow(r *http.Request) (any, error) {
	var question api.InstallQuestion
	if err := readBody(r, &question); err != nil {
		return nil, err
	}
	if err := s.mayWrite(); err != nil {
		return nil, err
	}
	ctx, cancel := untilWritten(r)
	defer cancel()
	planned, client, err := s.planned(ctx, question)
	if err != nil {
		return nil, err
	}
	digest, err := planned.Digest()
	if err != nil {
		return nil, err
	}
	if digest != question.Digest {
		return nil, changed("The plan of the install is another one now: look at it again.")
	}
	going, err := goingOn(planned.Judged.Verdict, planned.Judged.Digest, question.Accept, question.Reason)
	if err != nil {
		return nil, err
	}
	going.Follows = true
	written, err := planned.Apply(ctx, client, going)
	out := api.Written{Namespace: planned.Install.Namespace, Name: planned.Install.Wanted.Subscription, Said: said(written)}
	s.audit("install", "Subscription", out.Namespace, out.Name, digest, going, err)
	if err != nil {
		return nil, halfDone(err, written)
	}
	if planned.Install.Approval == operator.Manual {
		s.follow(ctx, planned.Planned, client, going)
	}
	return out, nil
}

// said are sentences of what was written.
func said(w installing.Written) []string {
	out := []string{}
	for _, one := range w.Made {
		out = append(out, fmt.Sprintf("made the %s %s", one.GetKind(), strings.TrimPrefix(one.GetNamespace()+"/"+one.GetName(), "/")))
	}
	if w.Untold != nil {
		out = append(out, "no Event tells of it: "+line.Of(w.Untold.Error()))
	}
	return out
}

// halfDone is an error that names what was made before it.
func halfDone(err error, w installing.Written) error {
	if len(w.Made) == 0 {
		return err
	}
	p := *problemOf(err)
	p.Detail += " Before that: " + strings.Join(said(w), ", ") + "."
	return &p
}
