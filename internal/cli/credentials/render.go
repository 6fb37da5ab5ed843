package credentials

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"k8s.io/apimachinery/pkg/util/yaml"

	cloudv1 "github.com/tabard-dev/tabard/api/cloudcredential/v1"
	"github.com/tabard-dev/tabard/awsauth/identity"
	"github.com/tabard-dev/tabard/internal/cli/command"
	core "github.com/tabard-dev/tabard/internal/core/credentials"
	"github.com/tabard-dev/tabard/internal/handoff"
)

const renderLong = `Print the role that a CredentialsRequest asks for, with its trust policy and its permission
policy, for another team to make. The request may be pending, or one that Tabard does not
fulfil. The command writes nothing, in AWS or in the cluster.

The role has none of the tags by which Tabard recognises its own roles, so Tabard does not
manage it. "tabard credentials bind" then gives the role to the request. If the request's
stsIAMRoleARN names a role, the printed role has that name.

With -f the command reads requests from files, and needs neither a cluster nor an AWS
session. --issuer, --account and --infrastructure-name then replace what it would read
from the cluster.

Exit codes: 0 printed; 1 the cluster cannot be read; 2 the input cannot be used, or something
that is named is missing.`

// rendering are the flags of render.
type rendering struct {
	where
	form                    string
	files, issuers          []string
	account, path, boundary string
	controller              string
}

func newRender(streams command.Streams, world World) *cobra.Command {
	r := &rendering{where: where{place: world.Place()}}
	out := &cobra.Command{
		Use:   "render NAME | render -f FILE",
		Short: "Print the role that a request asks for, for another team to make",
		Long:  renderLong,
		Example: `  tabard credentials render reports -n team-a

  # without a cluster, for Terraform
  tabard credentials render -f request.yaml --print terraform \
    --issuer https://issuer.example --account 123456789012 --infrastructure-name prod`,
		RunE: failed(streams, func(c *cobra.Command, args []string) error {
			work, err := r.work(c.Context(), streams, world, args)
			if err != nil {
				return err
			}
			text, err := work.Text(handoff.Form(r.form))
			if err != nil {
				return fmt.Errorf("--print: %w", err)
			}
			return streams.Print(text)
		}),
	}
	f := out.Flags()
	r.add(f, false)
	f.StringVar(&r.form, "print", string(handoff.AWS), "the `form`: "+strings.Join(handoff.Forms(), ", "))
	f.StringArrayVarP(&r.files, "filename", "f", nil, "a `file` with CredentialsRequests, - for standard input. May be repeated")
	f.StringArrayVar(&r.issuers, "issuer", nil, "the `URL` of an issuer whose tokens the role trusts (default: the cluster's). May be repeated")
	f.StringVar(&r.account, "account", "", "the AWS account of the role (default: that of the controller's role)")
	f.StringVar(&r.path, "role-path", "", "the role's path (default: /)")
	f.StringVar(&r.boundary, "permissions-boundary", "", "the ARN of the role's permissions boundary (default: the one that bootstrap made, if it did)")
	f.StringVar(&r.controller, "controller-namespace", command.Namespace, "Tabard's own `namespace`, whose requests' roles have short names")
	return out
}

// work is what is to be made.
func (r *rendering) work(ctx context.Context, streams command.Streams, world World, args []string) (handoff.Work, error) {
	override, err := r.place.Override()
	if err != nil {
		return handoff.Work{}, err
	}
	for _, url := range r.issuers {
		if !strings.HasPrefix(url, "https://") {
			return handoff.Work{}, fmt.Errorf("--issuer is %.200q, expected a URL that begins with https://", url)
		}
	}
	if r.account != "" && !identity.IsAccountID(r.account) {
		return handoff.Work{}, fmt.Errorf("--account is %.80q, expected the twelve digits of an AWS account", r.account)
	}
	var worlds []core.World
	switch {
	case (len(args) == 1) == (len(r.files) > 0) || len(args) > 1:
		return handoff.Work{}, errors.New("expected the name of one CredentialsRequest, or -f FILE; see tabard credentials render --help")
	case len(args) == 1:
		worlds, err = r.online(ctx, args[0])
	default:
		worlds, err = r.offline(streams.In)
		for i := range worlds {
			worlds[i].Platform.Infrastructure = override.Infrastructure
			worlds[i].Settings.Partition = identity.Partition(cmp.Or(override.Region, "us-east-1"))
		}
	}
	if err != nil {
		return handoff.Work{}, err
	}
	out := handoff.Work{Owner: handoff.Tag{Key: renderedTag, Value: cmp.Or(worlds[0].Platform.Infrastructure, "tabard")}}
	for _, w := range worlds {
		if err := r.addRole(&out, w); err != nil {
			return handoff.Work{}, fmt.Errorf("CredentialsRequest %s/%s: %w", w.Request.Namespace, w.Request.Name, err)
		}
	}
	return out, nil
}

// renderedTag is on roles that were rendered. It is none by which Tabard knows its own.
const renderedTag = "tabard.dev/rendered-for"

// offline reads requests from files.
func (r *rendering) offline(in io.Reader) ([]core.World, error) {
	var out []core.World
	for _, path := range r.files {
		file := command.File{By: "-f", Path: path, Expected: cloudv1.GroupVersion.String() + " CredentialsRequest in YAML or JSON, or - for the standard input"}
		text, err := file.Read(in)
		if err != nil {
			return nil, err
		}
		requests, err := r.requestsIn(text)
		if err != nil {
			return nil, file.Refuse(err)
		}
		for _, request := range requests {
			out = append(out, core.World{Request: request, Provider: core.DecodeProvider(request)})
		}
	}
	if len(out) == 0 {
		return nil, fmt.Errorf("there is no CredentialsRequest in %s", strings.Join(r.files, ", "))
	}
	for i := range out {
		r.tell(&out[i])
	}
	return out, nil
}

// requestsIn are the requests of a file's documents.
func (r *rendering) requestsIn(text []byte) (out []*cloudv1.CredentialsRequest, err error) {
	documents := yaml.NewYAMLOrJSONDecoder(bytes.NewReader(text), 4096)
	for number := 1; ; number++ {
		var request cloudv1.CredentialsRequest
		err := documents.Decode(&request)
		if errors.Is(err, io.EOF) {
			return out, nil
		}
		if err != nil {
			return nil, fmt.Errorf("document %d: %s", number, command.Cause(err))
		}
		if request.Kind == "" && request.Name == "" {
			continue // an empty document
		}
		if request.Kind != "CredentialsRequest" || request.APIVersion != cloudv1.GroupVersion.String() {
			return nil, fmt.Errorf("document %d has apiVersion %q and kind %q", number, request.APIVersion, request.Kind)
		}
		request.Namespace = cmp.Or(request.Namespace, r.namespace)
		if request.Name == "" || request.Namespace == "" {
			return nil, fmt.Errorf("document %d has no metadata.name or no metadata.namespace; -n says the namespace", number)
		}
		out = append(out, &request)
	}
}

// tell gives a world what the flags say; what is told goes before what was read.
func (r *rendering) tell(w *core.World) {
	w.Account = cmp.Or(r.account, w.Account)
	w.Settings.OwnNamespaces = []string{r.controller}
	w.Settings.PermissionsBoundary = cmp.Or(r.boundary, w.Settings.PermissionsBoundary)
	if len(r.issuers) == 0 {
		return
	}
	w.Issuers = nil
	for _, url := range r.issuers {
		w.Issuers = append(w.Issuers, core.Issuer{URL: url})
	}
}

// addRole adds the role of one request.
func (r *rendering) addRole(work *handoff.Work, w core.World) error {
	if w.Provider.AWS == nil {
		return fmt.Errorf("it is no AWSProviderSpec (%s): an identity of another cloud is made there, then tabard credentials bind gives it to the request", strings.Join(asks(w), " "))
	}
	if wrong := w.Provider.Misspelt(); wrong != "" {
		return errors.New(wrong)
	}
	given := w.Provider.AWS.STSIAMRoleARN
	role, err := r.named(&w, given)
	if err != nil {
		return err
	}
	for i := range w.Issuers {
		w.Issuers[i].Registered = true
		w.Issuers[i].ProviderARN = providerARN(w, w.Issuers[i].URL)
		if len(w.Issuers[i].Audiences) == 0 {
			w.Issuers[i].Audiences = core.Audiences(core.Target{Kind: core.KindSecret})
		}
	}
	trust, v := core.TrustPolicy(w)
	if !v.IsTrue() {
		return errors.New(v.Message)
	}
	subjects := core.Subjects(w)
	if len(subjects) == 0 {
		return errors.New("spec.serviceAccountNames is empty: it is not said which ServiceAccounts shall become the role")
	}
	role.Trust, role.Boundary = handoff.Policy(trust), w.Settings.PermissionsBoundary
	if entries := w.Provider.AWS.StatementEntries; len(entries) > 0 {
		role.PolicyName, role.Policy = core.PolicyName(role.Name), handoff.Policy(core.PermissionPolicy(entries))
	}
	for _, key := range slices.Sorted(maps.Keys(w.Platform.ResourceTags)) {
		role.Tags = append(role.Tags, handoff.Tag{Key: key, Value: w.Platform.ResourceTags[key]})
	}
	name := w.Request.Namespace + "/" + w.Request.Name
	work.Roles = append(work.Roles, role)
	work.About = append(work.About, fmt.Sprintf("Role %s in account %s is for the CredentialsRequest %s. Who may become it: %s.", role.Name, w.Account, name, strings.Join(subjects, ", ")))
	for _, i := range w.Issuers {
		work.About = append(work.About, fmt.Sprintf("Its tokens come from %s: the account needs the provider %s, with the audience %s.", i.URL, i.ProviderARN, strings.Join(i.Audiences, " and ")))
	}
	if given == "" {
		arn := identity.ARN{Partition: w.Settings.Partition, Service: "iam", Account: w.Account, Resource: "role" + role.Path + role.Name}
		work.About = append(work.About, fmt.Sprintf("Then: tabard credentials bind %s -n %s --role-arn %s", w.Request.Name, w.Request.Namespace, arn))
	}
	return nil
}

// named is the role by its name: the one that the request gives, or the one that it would
// get; or an error that names everything that is missing.
func (r *rendering) named(w *core.World, given string) (handoff.Role, error) {
	var missing []string
	if len(w.Issuers) == 0 {
		missing = append(missing, "the issuer of the cluster's tokens: set --issuer")
	}
	// Not at the path of Tabard's own roles: who makes those could take this one over.
	role := handoff.Role{Path: cmp.Or(r.path, "/"), Description: "For the CredentialsRequest " + w.Request.Namespace + "/" + w.Request.Name}
	if given != "" {
		arn, ok := identity.ParseRoleARN(given)
		if !ok {
			return role, fmt.Errorf("spec.providerSpec.stsIAMRoleARN is %.200q, expected arn:aws:iam::ACCOUNT:role/NAME", given)
		}
		if w.Account, w.Settings.Partition = cmp.Or(r.account, arn.Account), arn.Partition; w.Account != arn.Account {
			return role, fmt.Errorf("--account is %s, and spec.providerSpec.stsIAMRoleARN names a role in account %s", r.account, arn.Account)
		}
		role.Name, role.Path = arn.Name, arn.Path
		if bound, _ := identity.ParseARN(w.Settings.PermissionsBoundary); r.boundary == "" && bound.Account != arn.Account {
			w.Settings.PermissionsBoundary = "" // that of another account bounds no role here
		}
	} else {
		if w.Account == "" {
			missing = append(missing, "the AWS account: set --account")
		}
		if w.Platform.Infrastructure == "" {
			missing = append(missing, "the cluster's name in the cloud: set --infrastructure-name")
		}
		role.Name = core.RoleName(w.Settings, w.Platform.Infrastructure, w.Request.Namespace, w.Request.Name)
	}
	if len(missing) > 0 {
		return role, fmt.Errorf("these are missing:\n  - %s", strings.Join(missing, "\n  - "))
	}
	return role, nil
}
