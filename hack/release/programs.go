package main

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"

	"github.com/tabard-dev/tabard/hack/release/build"
	"github.com/tabard-dev/tabard/hack/release/evidence"
)

// programs writes an archive of each program for each platform, with its bill of materials, and
// the manifest by which krew installs tabard.
func (r release) programs(ctx context.Context) error {
	var offered []offer
	for _, platform := range r.platforms {
		for _, of := range commands {
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
	name, ending, pack := of.name, ".tar.gz", tarball
	if system == "windows" {
		name, ending, pack = of.name+".exe", ".zip", zipped
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
	packed, err := pack(members, r.created)
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
var programsOfImages = []struct{ name, program, description string }{
	{"tabard", "./cmd/tabard-operator", "Cloud identity for Kubernetes without stored keys"},
	{"tabard-webhook", "./cmd/tabard-webhook", "The pod identity webhook of Tabard"},
	{"tabard-eks-token", "./cmd/tabard-eks-token", "Tokens for EKS clusters, in the place of aws eks get-token"},
}

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
	for _, of := range programsOfImages {
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

// pages writes the archives of the completions and the man pages. A program that runs
// here writes them, of the same commands.
func (r release) pages(ctx context.Context) error {
	writer, err := filepath.Abs(filepath.Join(r.work, "pages", "pages"))
	if err != nil {
		return err
	}
	fmt.Fprintln(r.progress, "release: writing completions and man pages")
	if err := r.compiler.Compile(ctx, "./hack/release/pages", runtime.GOOS+"/"+runtime.GOARCH, writer); err != nil {
		return err
	}
	for _, what := range []string{"completions", "man"} {
		dir := filepath.Join(r.work, what)
		command := exec.CommandContext(ctx, writer, "--"+what, dir, "--version", r.version)
		command.Env = append(os.Environ(), fmt.Sprintf("SOURCE_DATE_EPOCH=%d", max(r.created.Unix(), 0)))
		if said, err := command.CombinedOutput(); err != nil {
			return fmt.Errorf("write the %s: %w: %s", what, err, said)
		}
		members, err := folder(dir)
		if err != nil {
			return err
		}
		packed, err := tarball(members, r.created)
		if err != nil {
			return err
		}
		if err := r.write(r.file("tabard", what, ".tar.gz"), packed); err != nil {
			return err
		}
	}
	return nil
}
