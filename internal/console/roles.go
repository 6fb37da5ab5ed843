package console

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"

	"k8s.io/apimachinery/pkg/util/validation"

	"github.com/tabard-dev/tabard/internal/console/api"
	"github.com/tabard-dev/tabard/internal/core/catalogue"
	"github.com/tabard-dev/tabard/internal/core/operator"
	"github.com/tabard-dev/tabard/internal/core/permission"
	"github.com/tabard-dev/tabard/internal/core/roledocuments"
	"github.com/tabard-dev/tabard/internal/core/sufficiency"
)

// wrongRole is the answer to a role that cannot be one.
func wrongRole(err error) *Problem {
	return &Problem{Status: http.StatusBadRequest, Code: "role", Title: "This is no role that an operator can take", Detail: err.Error()}
}

// valuesOf are the values of a role, and its cloud. The partition is the cluster's; empty where it is
// not known.
func valuesOf(role api.Role, partition string) (map[string]string, catalogue.Cloud, error) {
	given := 0
	for _, has := range []bool{role.ARN != "", role.Azure != nil, role.GCP != nil} {
		if has {
			given++
		}
	}
	if given != 1 {
		return nil, 0, wrongRole(fmt.Errorf("roles of %d clouds are given, expected one", given))
	}
	var values map[string]string
	var cloud catalogue.Cloud
	var err error
	switch {
	case role.ARN != "":
		cloud = catalogue.AWS
		values, err = operator.ForAWS(role.ARN, partition, "")
	case role.Azure != nil:
		cloud = catalogue.Azure
		values, err = operator.ForAzure(operator.Azure{
			Client: role.Azure.Client, Tenant: role.Azure.Tenant, Subscription: role.Azure.Subscription, ResourceGroup: role.Azure.ResourceGroup, Region: role.Azure.Region,
		})
	default:
		cloud = catalogue.GCP
		var google operator.Google
		if google, err = operator.GoogleFrom(role.GCP.Audience); err == nil {
			google.ServiceAccount = role.GCP.ServiceAccount
			values, err = operator.ForGoogle(google)
		}
	}
	if err != nil {
		return nil, cloud, wrongRole(err)
	}
	return values, cloud, nil
}

// documentsOf are the documents of a role that somebody pasted: outputs of the AWS command line, one
// after the other. They are neither kept nor logged.
func documentsOf(pasted, arn string) (out sufficiency.Documents, err error) {
	var files []roledocuments.File
	for decoder := json.NewDecoder(bytes.NewReader([]byte(pasted))); ; {
		var one json.RawMessage
		err := decoder.Decode(&one)
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return out, wrongDocuments(fmt.Errorf("the JSON number %d cannot be read: %w", len(files)+1, err))
		}
		files = append(files, roledocuments.File{Name: fmt.Sprintf("document-%d.json", len(files)+1), Text: one})
	}
	if out, _, err = roledocuments.Read(arn, files); err != nil {
		return out, wrongDocuments(err)
	}
	return out, nil
}

func wrongDocuments(err error) *Problem {
	return &Problem{Status: http.StatusBadRequest, Code: "documents", Title: "What was pasted does not tell of the role", Detail: err.Error(),
		Next: []string{"aws iam get-account-authorization-details --filter Role LocalManagedPolicy AWSManagedPolicy"}}
}

// check says whether a role is enough for an operator that is to be installed in a namespace.
func (s *Server) check(r *http.Request) (any, error) {
	var question api.CheckQuestion
	if err := readBody(r, &question); err != nil {
		return nil, err
	}
	p, b, err := s.version(r.Context(), question.Operator, question.Version)
	if err != nil {
		return nil, err
	}
	namespace := question.Namespace
	if namespace == "" && b.Metadata != nil {
		namespace = b.Metadata.Annotations[catalogue.SuggestedNamespace]
	}
	if wrong := validation.IsDNS1123Label(namespace); len(wrong) > 0 {
		return nil, wrongField("namespace", namespace, "the name of the namespace of the operator, whose ServiceAccounts the role has to trust")
	}
	partition, issuer := "", ""
	if s.World.HasCluster() {
		seen, err := s.seen(r.Context())
		if err != nil {
			return nil, err
		}
		partition = seen.Partition()
		if issuer, err = s.World.OLM.Issuer(r.Context()); err != nil {
			return nil, err
		}
	}
	values, cloud, err := valuesOf(question.Role, partition)
	if err != nil {
		return nil, err
	}
	upgrade := operator.Upgrade{CSV: b.Name, New: permission.OfBundle(p.Name, b, &cloud), Namespace: namespace, Values: values, Issuer: issuer}
	if upgrade.IsOfAWS() {
		if upgrade.Role, upgrade.Unread, err = s.role(r.Context(), operator.IdentityOf(values), question.Documents); err != nil {
			return nil, err
		}
	}
	judged := operator.Judge(upgrade)
	return api.Check{Judgement: judgementOf(judged), Enough: judged.Verdict.MayPass(), Command: "tabard operators check --request DIR" + roleFlags(question.Role) + documentsFlag(question.Documents)}, nil
}

// role are the documents of a role: those that somebody pasted, else those in AWS. Where AWS does not
// tell it says why.
func (s *Server) role(ctx context.Context, arn, pasted string) (documents *sufficiency.Documents, unread string, err error) {
	var read sufficiency.Documents
	if strings.TrimSpace(pasted) != "" {
		read, err = documentsOf(pasted, arn)
		return &read, "", err
	}
	switch read, err = s.World.RoleDocuments(ctx, arn); {
	case err == nil:
		return &read, "", nil
	case ctx.Err() != nil:
		return nil, "", ctx.Err()
	}
	return nil, err.Error(), nil
}

// judgementOf is a judgement for the pages.
func judgementOf(j operator.Judgement) api.Judgement {
	out := api.Judgement{
		CSV: j.CSV, From: j.From, Verdict: string(j.Verdict), Digest: j.Digest, Why: j.Why, Changes: []api.DifferenceRow{},
		Trust: []api.CheckRow{}, Permissions: []api.CheckRow{}, Warnings: []string{}, Broader: []string{}, NotSeen: []string{},
	}
	if j.Difference != nil {
		out.Changes = differences(*j.Difference)
	}
	if j.Report == nil {
		return out
	}
	for _, t := range j.Report.Trust {
		out.Trust = append(out.Trust, api.CheckRow{Result: string(t.Result), Good: t.Result == sufficiency.Trusted, What: t.Subject + " for " + t.Audience, Why: t.Why})
	}
	for _, p := range j.Report.Permissions {
		out.Permissions = append(out.Permissions, api.CheckRow{Result: string(p.Result), Good: p.Result == sufficiency.Granted, What: p.Sentence(), Why: p.Why})
	}
	out.Warnings, out.Broader, out.NotSeen = append(out.Warnings, j.Report.Warnings...), append(out.Broader, j.Report.Broader...), append(out.NotSeen, j.Report.NotSeen...)
	return out
}
