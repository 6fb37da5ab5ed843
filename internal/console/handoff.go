package console

import (
	"archive/zip"
	"bytes"
	"cmp"
	"context"
	"fmt"
	"net/http"
	"strings"

	"github.com/tabard-dev/tabard/internal/console/api"
	"github.com/tabard-dev/tabard/internal/core/catalogue"
	"github.com/tabard-dev/tabard/internal/core/listing"
	"github.com/tabard-dev/tabard/internal/core/permission"
	"github.com/tabard-dev/tabard/internal/core/rolerequest"
	"github.com/tabard-dev/tabard/internal/handoff/operator"
)

// version is a version of a package by its ID; without a version the head of its default channel.
func (s *Server) version(ctx context.Context, id, version string) (*catalogue.Package, catalogue.Bundle, error) {
	read, _, err := s.catalogue.get(ctx)
	if err != nil {
		return nil, catalogue.Bundle{}, err
	}
	p, ok := read.find(id)
	if !ok {
		return nil, catalogue.Bundle{}, s.noOperator(id)
	}
	b, err := bundle(p, version)
	if err != nil {
		return nil, catalogue.Bundle{}, err
	}
	if b == nil {
		return nil, catalogue.Bundle{}, &Problem{Status: http.StatusBadRequest, Code: "version", Title: "There is no version to take", Detail: "the default channel of the operator has no single head in the catalogue: choose a version"}
	}
	return p, *b, nil
}

// handoffs writes what the owner of a cloud account needs to make a role. Nothing is kept.
func (s *Server) handoffs(w http.ResponseWriter, r *http.Request) {
	ctx, cancel := context.WithTimeout(r.Context(), answerWithin)
	defer cancel()
	var question api.HandoffQuestion
	err := queryOf(r).err()
	if err == nil {
		err = readBody(r, &question)
	}
	var said *api.Handoff
	if err == nil {
		said, err = s.handoff(ctx, question)
	}
	if err != nil {
		s.refuse(w, r, problemOf(err))
		return
	}
	if r.Header.Get("Accept") != "application/zip" {
		s.write(w, r, said)
		return
	}
	packed, err := zipped(said)
	if err != nil {
		s.refuse(w, r, problemOf(err))
		return
	}
	w.Header().Set("Content-Type", "application/zip")
	w.Header().Set("Content-Disposition", "attachment; filename=handoff.zip")
	_, _ = w.Write(packed) // with the browser gone there is nobody to tell
}

func (s *Server) handoff(ctx context.Context, question api.HandoffQuestion) (_ *api.Handoff, err error) {
	defer recovered(s.Audit, &err)
	p, b, err := s.version(ctx, question.Operator, question.Version)
	if err != nil {
		return nil, err
	}
	place := rolerequest.Place{Cluster: question.ClusterName, Namespace: cmp.Or(question.Namespace, b.SuggestedNamespace()), Issuer: question.Issuer, Account: question.Account}
	if s.World.HasCluster() {
		seen, err := s.seen(ctx)
		if err != nil {
			return nil, err
		}
		place.Issuer, place.Cluster, place.Partition = cmp.Or(place.Issuer, seen.Issuer()), cmp.Or(place.Cluster, seen.InfrastructureName()), seen.Partition()
	}
	set := permission.OfBundle(p.Name, b, s.cloud(ctx))
	if _, known := set.Requests(); !known {
		return nil, &Problem{Status: http.StatusConflict, Code: "unknown", Title: "It is not known what the operator asks the cloud for", Detail: listing.WhyUnknown(set, b),
			Next: []string{s.handoffCommand(p, b, place.Namespace, " --requests PATH")}}
	}
	request, err := rolerequest.New(set, place, rolerequest.Role{Name: question.RoleName, Path: question.Path, Boundary: question.Boundary})
	if err != nil {
		return nil, &Problem{Status: http.StatusBadRequest, Code: "handoff", Title: "No role can be asked for like this", Detail: err.Error()}
	}
	files, err := operator.Files(request, operator.Where{})
	if err != nil {
		return nil, &Problem{Status: http.StatusBadRequest, Code: "handoff", Title: "No role can be asked for like this", Detail: err.Error()}
	}
	out := &api.Handoff{RoleName: request.Role.Name, Missing: []string{}, Command: s.handoffCommand(p, b, place.Namespace,
		flag("cluster-name", question.ClusterName)+flag("issuer", question.Issuer)+flag("account", question.Account)+flag("role-name", question.RoleName)+
			flag("path", question.Path)+flag("permissions-boundary", question.Boundary))}
	for _, file := range files {
		out.Files = append(out.Files, api.HandoffFile{Name: file.Name, Text: file.Text})
	}
	switch {
	case request.Cloud() != permission.AWS:
		out.Missing = append(out.Missing, fmt.Sprintf("There is no script for %s, since its place there is not known: the command takes flags for it.", strings.ToUpper(string(request.Cloud()))))
	case request.Account == "":
		out.Missing = append(out.Missing, "There is no script, since the account is not known. The trust policy is a template.")
	}
	return out, nil
}

// handoffCommand writes the same hand-off.
func (s *Server) handoffCommand(p *catalogue.Package, b catalogue.Bundle, namespace, flags string) string {
	return s.ofCatalogue(about("operators handoff", p.Name, flag("version", b.Version)+flag("namespace", namespace)+s.sourceFlag(p)+" --output-dir DIR"+flags))
}

// zipped is a hand-off as an archive. The same hand-off is the same bytes.
func zipped(h *api.Handoff) ([]byte, error) {
	var out bytes.Buffer
	archive := zip.NewWriter(&out)
	for _, file := range h.Files {
		w, err := archive.CreateHeader(&zip.FileHeader{Name: file.Name, Method: zip.Deflate})
		if err != nil {
			return nil, err
		}
		if _, err := w.Write([]byte(file.Text)); err != nil {
			return nil, err
		}
	}
	if err := archive.Close(); err != nil {
		return nil, err
	}
	return out.Bytes(), nil
}
