package console

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"

	"k8s.io/apimachinery/pkg/util/validation"

	"github.com/tabard-dev/tabard/internal/console/api"
	"github.com/tabard-dev/tabard/internal/core/operator"
	"github.com/tabard-dev/tabard/internal/core/permission"
	"github.com/tabard-dev/tabard/internal/core/roledocuments"
	"github.com/tabard-dev/tabard/internal/core/sufficiency"
)

// wrongRole is the answer to a role that cannot be one.
func wrongRole(err error) *Problem {
	return &Problem{Status: http.StatusBadRequest, Code: "role", Title: "This is no role that an operator can take", Detail: err.Error()}
}

// valuesOf are the values of a role. The partition is the cluster's; empty where it is not known.
func valuesOf(role api.Role, partition string) (map[string]string, error) {
	given := operator.Given{ARN: role.ARN}
	if azure := role.Azure; azure != nil {
		given.Azure = operator.Azure{Client: azure.Client, Tenant: azure.Tenant, Subscription: azure.Subscription, ResourceGroup: azure.ResourceGroup, Region: azure.Region}
	}
	if role.GCP != nil {
		given.Audience, given.ServiceAccount = role.GCP.Audience, role.GCP.ServiceAccount
	}
	values, err := given.Values(partition)
	if err != nil {
		return nil, wrongRole(err)
	}
	return values, nil
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
	namespace := cmp.Or(question.Namespace, b.SuggestedNamespace())
	if wrong := validation.IsDNS1123Label(namespace); len(wrong) > 0 {
		return nil, wrongField("namespace", namespace, "the name of the namespace of the operator, whose ServiceAccounts the role has to trust")
	}
	partition := ""
	if s.World.HasCluster() {
		seen, err := s.seen(r.Context())
		if err != nil {
			return nil, err
		}
		partition = seen.Partition()
	}
	values, err := valuesOf(question.Role, partition)
	if err != nil {
		return nil, err
	}
	judged, err := s.judge(question.Documents).Judge(r.Context(), operator.Upgrade{
		CSV: b.Name, New: permission.OfBundle(p.Name, b, operator.CloudOf(values)), Namespace: namespace, Values: values,
	})
	if err != nil {
		return nil, err
	}
	return api.Check{Judgement: judgementOf(judged), Enough: judged.Verdict.MayPass(), Command: "tabard operators check --request DIR" + roleFlags(question.Role) + documentsFlag(question.Documents)}, nil
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
