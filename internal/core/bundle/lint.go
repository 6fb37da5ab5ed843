package bundle

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/tabard-dev/tabard/internal/core/catalogue"
	"github.com/tabard-dev/tabard/internal/core/permission"
)

// installable are the kinds that OLM takes of a bundle
// (https://olm.operatorframework.io/docs/tasks/creating-operator-manifests/).
var installable = []string{
	kindCSV, "CustomResourceDefinition", "Secret", "ClusterRole", "ClusterRoleBinding", "Role", "RoleBinding", "ServiceAccount",
	"Service", "ConfigMap", "PrometheusRule", "ServiceMonitor", "PodDisruptionBudget", "PriorityClass", "VerticalPodAutoscaler",
	"ConsoleYAMLSample", "ConsoleQuickStart", "ConsoleCLIDownload", "ConsoleLink", "ConsolePlugin", "NetworkPolicy",
}

// Lint is all that is wrong with a bundle: errors first, each in the order of the files.
func Lint(b Bundle) []Finding {
	var out findings
	for _, u := range b.Unread {
		out.add(Finding{Code: CodeFileNotRead, Severity: Error, File: u.Name}, "the file was not read: %s", u.Why)
	}
	for _, f := range slices.Concat(b.Manifests, b.Requests, []File{b.Metadata}) {
		for i, d := range f.Documents {
			if d.JSON == nil {
				out.add(Finding{Code: CodeInvalidYAML, Severity: Error, File: f.Name, Document: i + 1}, "the document cannot be read: %s", d.Broken)
			}
		}
	}
	b.kinds(&out)
	places := b.CSVs()
	if len(places) == 0 {
		out.add(Finding{Code: CodeNoCSV, Severity: Error}, "none of the manifests is a %s, expected one: its kind is what makes a file one", kindCSV)
	} else {
		at := b.place(places[0])
		for _, more := range places[1:] {
			second := b.place(more)
			second.Code, second.Severity = CodeSeveralCSVs, Error
			out.add(second, "it is one more %s, and the first is in %s: a bundle has one, so make two bundles of it", kindCSV, at.File)
		}
		var c csv
		if err := json.Unmarshal(b.Manifests[places[0].File].Documents[places[0].Document].JSON, &c); err != nil {
			at.Code, at.Severity = CodeInvalidCSV, Error
			out.add(at, "the %s cannot be read: %s", kindCSV, plainJSON(err))
		} else {
			l := linter{bundle: b, csv: &c, at: at, out: &out}
			l.lint()
		}
	}
	slices.SortStableFunc(out.all, func(a, b Finding) int { return strings.Compare(string(a.Severity), string(b.Severity)) })
	return out.all
}

func (b Bundle) place(p Place) Finding {
	return Finding{File: b.Manifests[p.File].Name, Document: p.Document + 1}
}

// plainJSON is an error of the decoder without Go's types.
func plainJSON(err error) string {
	if _, after, ok := strings.Cut(err.Error(), "into Go struct field "); ok {
		field, _, _ := strings.Cut(after, " of type")
		_, field, _ = strings.Cut(field, ".")
		return "the field " + field + " has a value of another type than it must have"
	}
	return strings.TrimPrefix(err.Error(), "json: ")
}

// kinds finds what OLM does not install.
func (b Bundle) kinds(out *findings) {
	for i, f := range b.Manifests {
		for j, d := range f.Documents {
			at := b.place(Place{i, j})
			switch found, partly := d.requests(); {
			case d.JSON == nil:
			case partly:
				at.Code, at.Severity = CodeNotInstallable, Error
				out.add(at, "it is a %s with a %s and other objects. %s. Write each object as a document of its own, then type: %s", d.Kind, kindRequest, notInstalled, b.Fix)
			case len(found) > 0:
				at.Code, at.Severity = CodeNotInstallable, Error
				out.add(at, "a %s is among the manifests. %s. It belongs into the annotation %s of the %s. Type: %s", kindRequest, notInstalled, permission.Annotation, kindCSV, b.Fix)
			case !slices.Contains(installable, d.Kind):
				at.Code, at.Severity = CodeKind, Warning
				out.add(at, "the kind is %s, which is not among those that OLM installs of a bundle: check that your OLM takes it, or have the operator create the object", catalogue.Quoted(d.Kind))
			}
		}
	}
}

// linter looks at one ClusterServiceVersion and what is around it.
type linter struct {
	bundle Bundle
	csv    *csv
	at     Finding
	out    *findings
}

func (l *linter) find(code Code, severity Severity, path, format string, args ...any) {
	at := l.at
	at.Code, at.Severity, at.Path = code, severity, path
	l.out.add(at, format, args...)
}

func (l *linter) lint() {
	annotations := l.csv.Metadata.Annotations
	switch total := size(annotations); {
	case total > mostAnnotations:
		l.find(CodeTooLarge, Error, annotationsPath, "the annotations have %d bytes together, expected %d at most: an API server refuses more. Shorten alm-examples, or name fewer permissions", total, mostAnnotations)
	case total > warnAnnotations:
		l.find(CodeLarge, Warning, annotationsPath, "the annotations have %d bytes together, and an API server refuses more than %d: the next versions have little room", total, mostAnnotations)
	}
	features, odd := catalogue.FeaturesOf(annotations)
	for _, f := range odd {
		l.find(Code(f.Code), Warning, annotationsPath, "%s", f.Message)
	}
	others := map[string]string{}
	for key, value := range annotations {
		if key != permission.Annotation {
			others[key] = value
		}
	}
	for _, f := range catalogue.CheckAnnotations(others) {
		l.find(Code(f.Code), Warning, annotationsPath, "%s", f.Message)
	}
	set := l.sources()
	l.tokens(features, set)
	l.accounts(set)
	l.mounts(set)
}

// sources reads all that declares requests, and compares it.
func (l *linter) sources() permission.Set {
	subject := l.csv.subject()
	declared := permission.ReadAnnotations(subject, l.csv.Metadata.Name, l.csv.Metadata.Annotations)
	for _, f := range declared.Findings {
		path := annotationPath
		if f.Path != "" {
			path += f.Path
		}
		l.find(Code(f.Code), Error, path, "%s", f.Message)
	}
	sets := []permission.Set{declared}
	for _, one := range []struct {
		kind  permission.SourceKind
		ref   string
		files []named
	}{
		{permission.SourceBundle, l.bundle.RequestsFolder, named{}.of(l.bundle.Requests, nil)},
		{permission.SourceBundle, "ConfigMap", configMaps(l.bundle.Manifests)},
		{permission.SourceManifests, "manifests", named{}.of(l.bundle.Manifests, func(d Document) bool { found, _ := d.requests(); return len(found) > 0 })},
	} {
		if len(one.files) > 0 {
			sets = append(sets, l.read(subject, one.kind, one.ref, one.files))
		}
	}
	chosen := permission.Choose(subject, "", sets...)
	if _, inAnnotation := declared.Requests(); !inAnnotation && chosen.Source.Kind == permission.SourceBundle && !l.out.has(CodeNotInstallable) {
		// What mends a bundle that is not installable writes the annotation, too.
		l.find(CodeNotInCatalogue, Warning, annotationPath, "the requests are in the bundle (%s), and catalogues have of a bundle only its annotations: %s", catalogue.Quoted(chosen.Source.Ref), declareWith)
	}
	for _, f := range chosen.Findings {
		if f.Code == permission.CodeSourcesDisagree {
			l.find(CodeSourcesDisagree, Error, "", "%s. To take over the files, type: tabard operators annotate CSV --requests PATH --overwrite", f.Message)
		}
	}
	return chosen
}

// named is a document for the readers of requests, and the place that its findings have.
type named struct {
	permission.File
	at Finding
}

// of are the documents of files, or those that are wanted.
func (named) of(files []File, wanted func(Document) bool) []named {
	var out []named
	for _, f := range files {
		for i, d := range f.Documents {
			if d.JSON != nil && (wanted == nil || wanted(d)) {
				out = append(out, named{permission.File{Text: d.JSON}, Finding{File: f.Name, Document: i + 1}})
			}
		}
	}
	return out
}

// RequestsLabel marks a ConfigMap among the manifests of which each value is a file with
// CredentialsRequests.
const RequestsLabel = permission.Annotation

func configMaps(manifests []File) []named {
	var out []named
	for _, f := range manifests {
		for i, d := range f.Documents {
			var c struct {
				Metadata struct {
					Labels map[string]string `json:"labels"`
				} `json:"metadata"`
				Data map[string]string `json:"data"`
			}
			if d.Kind != "ConfigMap" || json.Unmarshal(d.JSON, &c) != nil || c.Metadata.Labels[RequestsLabel] != "true" {
				continue
			}
			for _, key := range sortedKeys(c.Data) {
				out = append(out, named{permission.File{Text: []byte(c.Data[key])}, Finding{File: f.Name, Document: i + 1, Path: "data[" + key + "]"}})
			}
		}
	}
	return out
}

// read reads requests. What is wrong with them is an error at its place.
func (l *linter) read(subject permission.Subject, kind permission.SourceKind, ref string, all []named) permission.Set {
	var files []permission.File
	for i := range all {
		all[i].Name = fmt.Sprintf("%d", i)
		files = append(files, all[i].File)
	}
	set := permission.ReadFiles(subject, kind, ref, files)
	for _, f := range set.Findings {
		if f.Code == permission.CodeBundleUninstallable {
			continue // Each document has a finding of its own.
		}
		at, path := Finding{}, f.Path
		for _, one := range all {
			if rest, ok := strings.CutPrefix(f.Path, one.Name+" document "); ok {
				number, rest, _ := strings.Cut(rest, " ")
				at, path = one.at, rest
				if at.Path != "" {
					path = strings.TrimSpace(at.Path + " document " + number + " " + rest)
				}
			}
		}
		at.Code, at.Severity, at.Path = Code(f.Code), Error, path
		l.out.add(at, "%s", f.Message)
	}
	return set
}
