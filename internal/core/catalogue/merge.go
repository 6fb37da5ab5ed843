package catalogue

import "slices"

// Merge is what two catalogues have together: the packages in the order of Catalogue, the
// findings of a before those of b, a thousand of them. A package that both have of one source is
// a's. The result shares what is in its packages with a and b, which stay as they are.
func Merge(a, b Catalogue) Catalogue {
	var found Builder
	more := false
	for _, f := range slices.Concat(a.Findings, b.Findings) {
		if f.Code == TooManyFindings {
			more = true
			continue
		}
		found.Find(f)
	}
	var merged Catalogue
	has := make(map[key]bool, len(a.Packages))
	for _, p := range a.Packages {
		has[p.Source.key(p.Name)] = true
		merged.Packages = append(merged.Packages, p)
	}
	for _, p := range b.Packages {
		if has[p.Source.key(p.Name)] {
			found.twice("package", p.Name, Where{Source: p.Source})
			continue
		}
		merged.Packages = append(merged.Packages, p)
	}
	slices.SortStableFunc(merged.Packages, func(p, q Package) int {
		return p.Source.key(p.Name).compare(q.Source.key(q.Name))
	})
	merged.Findings = found.findings
	if more || found.more > 0 {
		// How many they are in all is not known: the catalogues do not keep their number.
		merged.Findings = append(merged.Findings, Finding{Code: TooManyFindings,
			Message: "more findings are not listed; mend these first and read the catalogue again"})
	}
	return merged
}
