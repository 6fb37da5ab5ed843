package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
)

// chart writes the Helm chart as helm package would, with the version in it. Helm's versions
// have no v; the tags of the images have.
func (r release) chart(context.Context) error {
	dir := filepath.Join(r.compiler.Source, "charts", "tabard")
	all, err := folder(dir)
	if err != nil {
		return err
	}
	var members []member
	for _, m := range all {
		if strings.HasSuffix(m.name, ".tmpl") {
			continue // what the README is written from
		}
		m.name = "tabard/" + m.name
		members = append(members, m)
	}
	about, err := os.ReadFile(filepath.Join(dir, "Chart.yaml"))
	if err != nil {
		return fmt.Errorf("read the chart: %w", err)
	}
	if about, err = chartOf(about, r.version); err != nil {
		return err
	}
	own := filepath.Join(r.work, "Chart.yaml")
	if err := os.WriteFile(own, about, 0o600); err != nil {
		return fmt.Errorf("write the chart's version: %w", err)
	}
	for i := range members {
		if members[i].name == "tabard/Chart.yaml" {
			members[i].path = own
		}
	}
	packed, err := r.tarball(members)
	if err != nil {
		return err
	}
	return r.write("tabard-"+strings.TrimPrefix(r.version, "v")+".tgz", packed)
}

var chartLines = map[string]*regexp.Regexp{
	"version":    regexp.MustCompile(`(?m)^version: .*$`),
	"appVersion": regexp.MustCompile(`(?m)^appVersion: .*$`),
	"comment":    regexp.MustCompile(`(?m)^# A release sets both.*\n`),
}

// chartOf sets the versions in a Chart.yaml.
func chartOf(about []byte, version string) ([]byte, error) {
	for key, value := range map[string]string{"version": strings.TrimPrefix(version, "v"), "appVersion": version} {
		if found := len(chartLines[key].FindAll(about, -1)); found != 1 {
			return nil, fmt.Errorf("the file Chart.yaml has %s on %d lines, expected one", key, found)
		}
		about = chartLines[key].ReplaceAll(about, []byte(key+": "+value))
	}
	return chartLines["comment"].ReplaceAll(about, nil), nil
}
