package main

import (
	"context"
	"fmt"
	"path/filepath"
	"strings"
	"time"

	"github.com/tabard-dev/tabard/hack/release/build"
	"github.com/tabard-dev/tabard/hack/release/evidence"
	"github.com/tabard-dev/tabard/hack/release/pages"
)

// programs writes an archive of each program for each platform, with its bill of materials, and
// the manifest by which krew installs tabard.
func (r release) programs(ctx context.Context) error {
	var offered []offer
	for _, platform := range r.platforms {
		for _, of := range r.commands {
			fmt.Fprintf(r.progress, "release: compiling %s for %s (the first time takes minutes; packages are listed as they are compiled)\n", of.name, platform)
			made, err := r.program(ctx, of, platform)
			if err != nil {
				return err
			}
			if of.plugin {
				offered = append(offered, made)
			}
		}
	}
	manifest, err := krew(r.version, r.url, offered)
	if err != nil {
		return err
	}
	return r.write("krew.yaml", manifest)
}

// commands are the programs that people type, or that their kubectl does. The plugin is
// installed by krew.
var commands = []command{
	{name: "tabard", program: "./cmd/tabard", plugin: true},
	{name: "tabard-eks-token", program: "./cmd/tabard-eks-token"},
}

type command struct {
	name, program string
	plugin        bool
}

// completer is the script by which kubectl completes the plugin. krew links the plugin alone.
const completer = "kubectl_complete-tabard"

// program writes the archive of one platform: a zip for Windows, which opens it by itself.
func (r release) program(ctx context.Context, of command, platform string) (offer, error) {
	system, architecture, _ := strings.Cut(platform, "/")
	name, ending, pack := of.name, ".tar.gz", r.tarball
	if system == "windows" {
		name, ending, pack = of.name+".exe", ".zip", r.zipped
	}
	path := filepath.Join(r.work, strings.ReplaceAll(platform, "/", "-"), name)
	absolute, err := filepath.Abs(path)
	if err != nil {
		return offer{}, err
	}
	if err := r.compiler.Compile(ctx, of.program, platform, absolute); err != nil {
		return offer{}, err
	}
	members := []member{{name: name, path: path, mode: 0o755}}
	if of.plugin && system != "windows" {
		members = append(members, member{name: completer, path: filepath.Join(r.compiler.Source, "internal", "app", completer), mode: 0o755})
	}
	for _, text := range []string{"LICENSE", "NOTICE", "README.md"} {
		members = append(members, member{name: text, path: filepath.Join(r.compiler.Source, text), mode: 0o644})
	}
	packed, err := pack(members)
	if err != nil {
		return offer{}, err
	}
	archive := r.file(of.name, platform, ending)
	if err := r.write(archive, packed); err != nil {
		return offer{}, err
	}
	if err := r.materials(of.name, platform, path); err != nil {
		return offer{}, err
	}
	ofArchive, err := digest(filepath.Join(r.part, archive))
	return offer{system: system, architecture: architecture, archive: archive, sha256: ofArchive, program: name}, err
}

// materials writes the bill of materials of a program.
func (r release) materials(name, platform, path string) error {
	ofProgram, err := digest(path)
	if err != nil {
		return err
	}
	materials, err := evidence.Materials(path, evidence.Subject{Name: name, Version: r.version, SHA256: ofProgram, Created: r.created})
	if err != nil {
		return err
	}
	return r.write(r.file(name, platform, ".cdx.json"), materials)
}

// programsOfImages are the images by the last part of their names.
var programsOfImages = []programOfImage{
	{"tabard", "./cmd/tabard-operator", "Cloud identity for Kubernetes without stored keys"},
	{"tabard-webhook", "./cmd/tabard-webhook", "The pod identity webhook of Tabard"},
	{"tabard-eks-token", "./cmd/tabard-eks-token", "Tokens for EKS clusters, in the place of aws eks get-token"},
}

type programOfImage struct{ name, program, description string }

// images writes the images of the platforms of Linux as archives, and the documents that
// are in the archives as files too.
func (r release) images(ctx context.Context) error {
	var platforms []string
	for _, platform := range r.platforms {
		if strings.HasPrefix(platform, "linux/") {
			platforms = append(platforms, platform)
		}
	}
	if len(platforms) == 0 {
		fmt.Fprintln(r.progress, "release: no images, because no platform is Linux")
		return nil
	}
	for _, of := range r.programsOfImages {
		what := of.name + "-image"
		packed, err := build.Images{
			Compiler: r.compiler, Program: of.program, Repository: registry + "/" + of.name, Description: of.description,
			Version: r.version, Revision: r.revision, Created: r.created, Platforms: platforms,
			Programs: filepath.Join(r.work, what), Archive: filepath.Join(r.part, r.file(what, "", ".tar")), Progress: r.progress,
		}.Run(ctx)
		if err != nil {
			return err
		}
		endings := map[string]string{evidence.MaterialsType: ".cdx.json", evidence.ProvenanceType: ".intoto.json"}
		for _, image := range packed {
			for _, document := range image.Documents {
				if err := r.write(r.file(what, image.Platform, endings[document.Type]), document.Content); err != nil {
					return err
				}
			}
		}
	}
	return nil
}

// pages writes the archives of the completions and the man pages.
func (r release) pages(context.Context) error {
	fmt.Fprintln(r.progress, "release: writing completions and man pages")
	created := time.Unix(max(r.created.Unix(), 0), 0).UTC()
	for what, write := range map[string]func(dir string) error{
		"completions": pages.Completions,
		"man":         func(dir string) error { return pages.Man(dir, r.version, created) },
	} {
		dir := filepath.Join(r.work, what)
		if err := write(dir); err != nil {
			return fmt.Errorf("write the %s: %w", what, err)
		}
		members, err := folder(dir)
		if err != nil {
			return err
		}
		packed, err := r.tarball(members)
		if err != nil {
			return err
		}
		if err := r.write(r.file("tabard", what, ".tar.gz"), packed); err != nil {
			return err
		}
	}
	return nil
}
