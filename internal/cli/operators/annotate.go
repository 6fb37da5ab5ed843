package operators

import (
	"encoding/json"
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/tabard-dev/tabard/internal/cli/command"
	"github.com/tabard-dev/tabard/internal/core/bundle"
	"github.com/tabard-dev/tabard/internal/core/line"
	"github.com/tabard-dev/tabard/internal/core/permission"
)

const annotateLong = `Write the annotation ` + permission.Annotation + ` into a
ClusterServiceVersion, so that administrators see what the operator will ask the cloud for before
they install it. Its value is a JSON list of CredentialsRequests in a canonical form, without
status and without what a cluster has written to them. Comments and order of the file stay.

The requests come from --requests. For a bundle directory it may be left out: then they are those
in manifests/, which OLM does not install, and those in credentials-requests/. With --write the
former move from manifests/ to credentials-requests/.

Without --write the new text is printed, and no file is changed. Doing it twice changes nothing.
An annotation with other content is kept, unless --overwrite is there.

Exit codes: 0 done; 1 the annotation is there with other content; 2 the input cannot be used.`

type annotateFlags struct {
	requests         string
	write, overwrite bool
}

func newAnnotate(streams command.Streams, world World) *cobra.Command {
	f := &annotateFlags{}
	out := &cobra.Command{
		Use:   "annotate BUNDLE|CSV",
		Short: "Declare in a ClusterServiceVersion what an operator will ask the cloud for",
		Long:  annotateLong,
		Example: `  # See the new ClusterServiceVersion, then write it.
  tabard operators annotate csv.yaml --requests credentials-requests/
  tabard operators annotate csv.yaml --requests credentials-requests/ --write

  # Move the CredentialsRequests of a bundle to where OLM does not see them, and declare them.
  tabard operators annotate bundle/ --write`,
		Args: oneBundle(streams),
		RunE: command.Spoken(streams, func(_ *cobra.Command, args []string) error {
			switch {
			case args[0] == "-" && f.requests == "-":
				return errors.New("the ClusterServiceVersion and --requests are both -: the standard input can be read once")
			case args[0] == "-" && f.write:
				return errors.New("--write is for files, and the ClusterServiceVersion is -: leave --write out, the new text is printed")
			}
			read, err := readAuthored(streams.In, args[0], world.JSON)
			if err != nil {
				return err
			}
			return f.run(streams, read)
		}),
	}
	flags := out.Flags()
	flags.StringVar(&f.requests, "requests", "", "the `PATH` of CredentialsRequests: a file, a directory, or - for the standard input")
	flags.BoolVarP(&f.write, "write", "w", false, "change the files in place, instead of printing")
	flags.BoolVar(&f.overwrite, "overwrite", false, "replace an annotation that is there with other content")
	return out
}

func (f *annotateFlags) run(streams command.Streams, a *authored) error {
	at, err := a.csv()
	if err != nil {
		return err
	}
	file := a.Manifests[at.File]
	document := file.Documents[at.Document]
	value, err := f.value(streams, a, document.JSON)
	if err != nil {
		return err
	}
	text := file.Text[document.Start:document.End]
	switch old, there, was := bundle.Declared(document.JSON); {
	case there && old == value:
	case there && !f.overwrite:
		return streams.Refuse(command.Found, fmt.Errorf("the annotation is there with other content: %s, and now it would be %s; add --overwrite to replace it, or compare with tabard operators lint",
			requestsIn(was), requestsIn(bundle.Count(value))))
	default:
		if text, err = annotated(text, value, a.decode); err != nil {
			return command.File{By: "BUNDLE|CSV", Path: a.path}.Refuse(fmt.Errorf("%s: %w", file.Name, err))
		}
	}
	moves := a.whole && f.requests == ""
	if !f.write {
		whole := string(file.Text[:document.Start]) + string(text) + string(file.Text[document.End:])
		if found, _ := a.ManifestRequests(); moves && len(found) > 0 {
			sayOn(streams.Err, "tabard: no file was changed: with --write the annotation is written, and %s out of the manifests", line.Count(len(found), "CredentialsRequest moves", "CredentialsRequests move"))
		}
		return command.Write(untouched(streams), whole)
	}
	writes := []bundle.Write{{Name: file.Name, Text: []byte(string(file.Text[:document.Start]) + string(text) + string(file.Text[document.End:]))}}
	if moves {
		if writes, err = a.Move(at, text); err != nil {
			return err
		}
	}
	return a.write(streams, writes)
}

func requestsIn(n int) string {
	if n < 0 {
		return "no list of CredentialsRequests"
	}
	return line.Count(n, "CredentialsRequest", "CredentialsRequests")
}

// csv is the place of the one ClusterServiceVersion. Nothing is decided by halves: a file that
// could not be read is an error.
func (a *authored) csv() (bundle.Place, error) {
	refuse := command.File{By: "BUNDLE|CSV", Path: a.path, Expected: "one ClusterServiceVersion; tabard operators lint " + line.Argument(a.path) + " says more"}.Refuse
	if len(a.Unread) > 0 {
		return bundle.Place{}, refuse(fmt.Errorf("%s was not read: %s", a.Unread[0].Name, a.Unread[0].Why))
	}
	for _, files := range [][]bundle.File{a.Manifests, {a.Metadata}} {
		for _, f := range files {
			for i, d := range f.Documents {
				if d.JSON == nil {
					return bundle.Place{}, refuse(fmt.Errorf("%s, document %d cannot be read: %s", f.Name, i+1, d.Broken))
				}
			}
		}
	}
	if all := a.CSVs(); len(all) != 1 {
		return bundle.Place{}, refuse(fmt.Errorf("there are %d ClusterServiceVersions in it", len(all)))
	}
	return a.CSVs()[0], nil
}

// value is the annotation for the requests. Requests that lint would find are refused.
func (f *annotateFlags) value(streams command.Streams, a *authored, csv []byte) (string, error) {
	file := command.File{By: "BUNDLE|CSV", Path: a.path, Expected: "CredentialsRequests in it, or in the files of --requests"}
	var requests []json.RawMessage
	var err error
	if f.requests == "" {
		requests, err = a.own()
	} else {
		file = command.File{By: "--requests", Path: f.requests, Expected: "CredentialsRequests in YAML or JSON, or a directory of such files"}
		var given []permission.File
		if given, err = requestFiles(streams.In, f.requests); err == nil {
			var files []bundle.File
			for _, g := range given {
				if len(g.Text) >= largestFile {
					return "", file.Refuse(fmt.Errorf("%s has more than %d MiB", g.Name, largestFile>>20))
				}
				files = append(files, bundle.ReadFile(g.Name, g.Text, a.decode))
			}
			requests, err = bundle.Requests(files)
		}
	}
	if err != nil {
		return "", file.Refuse(err)
	}
	value, err := bundle.Annotation(requests)
	if err != nil {
		return "", file.Refuse(err)
	}
	findings, err := bundle.Check(csv, value)
	if err != nil {
		return "", file.Refuse(err)
	}
	if len(findings) > 0 {
		tellSet(streams, findings)
		return "", file.Refuse(errors.New("the requests cannot be declared as they are, and nothing was written; the paths count the requests in order of their names"))
	}
	return value, nil
}

// own are the requests of a bundle: those among its manifests, and those beside them.
func (a *authored) own() ([]json.RawMessage, error) {
	if !a.whole {
		return nil, errors.New("it is no bundle directory with manifests/, of which the CredentialsRequests could be taken: type --requests PATH")
	}
	moved, err := a.ManifestRequests()
	if err != nil {
		return nil, err
	}
	beside, err := bundle.Requests(a.Requests)
	if err != nil {
		return nil, err
	}
	if len(moved)+len(beside) == 0 && len(a.Requests) == 0 {
		return nil, errors.New("there is no CredentialsRequest in manifests/ or " + a.RequestsFolder + "/")
	}
	return append(moved, beside...), nil
}
