package permission

import "github.com/tabard-dev/tabard/internal/core/catalogue"

// SubjectOf is the operator of a bundle. Without a cloud the requests to all clouds are read.
func SubjectOf(pkg string, b catalogue.Bundle, cloud *catalogue.Cloud) Subject {
	out := Subject{Package: pkg, Version: b.Version, CSV: b.Name}
	if cloud != nil {
		out.Cloud = Cloud(cloud.String())
		switch b.Features.Tokens[*cloud] {
		case catalogue.Unknown:
		case catalogue.Yes:
			out.TokenAuth = Supported
		default:
			out.TokenAuth = NotSupported
		}
	}
	if b.Workload != nil {
		out.RunAs(*b.Workload)
	}
	return out
}

// OfBundle is what a bundle declares by its annotation.
func OfBundle(pkg string, b catalogue.Bundle, cloud *catalogue.Cloud) Set {
	var annotations map[string]string
	if b.Metadata != nil {
		annotations = b.Metadata.Annotations
	}
	return ReadAnnotations(SubjectOf(pkg, b, cloud), b.Name, annotations)
}

// OneCloud is the cloud of all requests of some sets; nil for none, or for several clouds.
func OneCloud(sets ...Set) *catalogue.Cloud {
	found := map[Cloud]bool{}
	for _, s := range sets {
		requests, _ := s.Requests()
		for _, r := range requests {
			found[r.Cloud()] = true
		}
	}
	if len(found) != 1 {
		return nil
	}
	for _, c := range []catalogue.Cloud{catalogue.AWS, catalogue.Azure, catalogue.GCP} {
		if found[Cloud(c.String())] {
			return &c
		}
	}
	return nil
}
