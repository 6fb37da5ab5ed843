package catalogue

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"slices"

	model "github.com/tabard-dev/tabard/internal/core/catalogue"
	"github.com/tabard-dev/tabard/internal/core/line"
)

const csvKind = "ClusterServiceVersion"

// object is the manifest of an olm.bundle.object as JSON, if it is a ClusterServiceVersion.
func (r *reading) object(value []byte) []byte {
	var encoded string
	eachField(value, func(key, v []byte) {
		if string(key) == "data" {
			encoded, _ = text(v)
		}
	})
	manifest, err := base64.StdEncoding.DecodeString(encoded)
	if err != nil || len(manifest) == 0 {
		r.find(model.MetadataBroken, "the data of an olm.bundle.object is no base64 of a manifest; if it is the ClusterServiceVersion, what it would say is unknown")
		return nil
	}
	if !bytes.Contains(manifest, []byte(csvKind)) {
		return nil // Of other kinds nothing is kept.
	}
	if !json.Valid(manifest) {
		if manifest, err = jsonOf(manifest); err != nil {
			r.find(model.MetadataBroken, "a manifest in an olm.bundle.object cannot be read: %s", line.Of(err.Error()))
			return nil
		}
	}
	kind := ""
	eachField(manifest, func(key, v []byte) {
		if string(key) == "kind" {
			kind, _ = text(v)
		}
	})
	if kind != csvKind {
		return nil
	}
	return manifest
}

// fromCSV takes what a whole ClusterServiceVersion tells.
func (r *reading) fromCSV(b *model.Bundle, csv []byte) {
	var metadata, spec []byte
	eachField(csv, func(key, v []byte) {
		switch string(key) {
		case "metadata":
			metadata = v
		case "spec":
			spec = v
		}
	})
	b.Metadata = r.metadata(spec, metadata)
	if b.Metadata == nil {
		return
	}
	r.platforms(b.Metadata, metadata)
	b.Workload = r.workload(spec)
}

// workload are the ServiceAccounts of the operator's Deployments, and the audiences of the
// tokens in their volumes.
func (r *reading) workload(spec []byte) *model.Workload {
	var install struct {
		Install struct {
			Spec struct {
				Deployments model.Deployments `json:"deployments"`
			} `json:"spec"`
		} `json:"install"`
	}
	if err := json.Unmarshal(spec, &install); err != nil {
		r.find(model.MetadataBroken, "the Deployments of the ClusterServiceVersion cannot be read: %s; its ServiceAccounts are unknown", line.Of(err.Error()))
		return nil
	}
	w := install.Install.Spec.Deployments.Workload()
	for _, name := range slices.Concat(w.ServiceAccounts, w.Audiences) {
		r.a.kept += len(name) + 16
	}
	return &w
}
