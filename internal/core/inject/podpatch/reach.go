package podpatch

import (
	"path"
	"strings"
	"unicode/utf8"

	"github.com/tabard-dev/tabard/internal/core/inject/raw"
)

// settleMounts settles which mounts are added, now that all that the container has
// are seen, and finds those whose files it would not find.
func (p *Plan) settleMounts(c *Container, pod Pod, seen seenMounts) {
	for i := range p.Mounts {
		bit := uint64(1) << i
		if (seen.elsewhere|seen.rival|seen.beneath)&bit == 0 && !c.Settled && !p.AsIs {
			continue
		}
		depends := p.dependsOn(c, p.Mounts[i])
		if seen.elsewhere&bit != 0 && !depends {
			c.mounted |= bit // it has arranged that by itself
		}
		lost := depends && !p.reaches(c, pod, i)
		c.Lost = c.Lost || lost
		if (lost || seen.rival&bit != 0 && p.Mounts[i].Variable == "") && c.RivalPath == "" {
			c.Rival, c.RivalPath = p.rival(c, p.Mounts[i])
		}
	}
}

// seenMounts are what a container's mounts have to do with the plan's: a bit for each
// of these.
type seenMounts struct {
	// elsewhere: its volume is mounted, at another path. rival: something else is at
	// its path. beneath: something is mounted beneath it.
	elsewhere, rival, beneath uint64
}

// rival is the volume that a container has in the place of a mount or beneath it, and
// where that is.
func (p *Plan) rival(c *Container, mount Mount) (volume raw.Value, at string) {
	at = mount.Path
	for entry := c.mounts.value.Walk(); entry.Next(); {
		switch within, covers := within(p.clean(entry.Value().Get("mountPath").Text()), p.clean(mount.Path)); {
		case covers && within != "":
			volume, at = entry.Value().Get("name"), entry.Value().Get("mountPath").Text()
		case covers && !entry.Value().Get("name").Is(mount.Volume):
			volume = entry.Value().Get("name")
		}
	}
	return volume, at
}

// dependsOn says whether a container looks for the files of a mount: by a variable that
// it is given, or by one that it has and that is the same.
func (p *Plan) dependsOn(c *Container, mount Mount) bool {
	if mount.Variable == "" {
		return false
	}
	for i := range p.Groups {
		for _, variable := range p.Groups[i].Variables {
			switch {
			case variable.Name != mount.Variable:
			case c.Has(i):
				return c.Variable(variable.Name).Get("value").Is(variable.Value)
			default:
				return !c.Settled && !p.AsIs
			}
		}
	}
	return false
}

// reaches says whether a container finds all files of a mount of the plan where they
// belong. The deepest mount over a file counts, the last one of equals: so runtimes
// order them.
func (p *Plan) reaches(c *Container, pod Pod, mount int) bool {
	volume := p.volume(p.Mounts[mount].Volume)
	if volume == nil {
		return true
	}
	for _, source := range volume.Sources {
		if !p.reachesFile(c, pod, mount, source) {
			return false
		}
	}
	return true
}

func (p *Plan) reachesFile(c *Container, pod Pod, mount int, source Source) bool {
	want := p.Mounts[mount]
	file := p.clean(path.Join(want.Path, source.Path))
	var deepest raw.Value
	depth, replaced, index, rest := 0, false, 0, ""
	for entry := c.mounts.value.Walk(); entry.Next(); index++ {
		at, again := p.clean(entry.Value().Get("mountPath").Text()), c.replaces(mount, index)
		if again {
			at = p.clean(want.Path)
		}
		if within, covers := within(file, at); covers && len(at) >= depth {
			deepest, depth, replaced, rest = entry.Value(), len(at), again, within
		}
	}
	if replaced || p.adds(c, mount) && len(p.clean(want.Path)) >= depth {
		return true
	}
	if depth == 0 || deepest.Get("subPathExpr").Text() != "" {
		return false
	}
	rest = path.Join(p.clean(deepest.Get("subPath").Text()), rest)
	if deepest.Get("name").Is(want.Volume) && !p.AsIs {
		return rest == p.clean(source.Path)
	}
	return source.isIn(p.volumeOf(pod, deepest.Get("name").Text()), rest, p.windows)
}

// adds says that a mount of the plan is added to the container.
func (p *Plan) adds(c *Container, mount int) bool {
	return !p.AsIs && !c.Settled && c.mounted&(1<<mount) == 0
}

// replaces says that the container's mount at an index is replaced by one of the plan.
func (c *Container) replaces(mount, index int) bool {
	for _, stale := range c.stale {
		if stale.mount == mount && stale.index == index && !c.Settled {
			return true
		}
	}
	return false
}

// within is the path of a file within a folder, and whether it is there at all.
func within(file, folder string) (string, bool) {
	if file == folder {
		return "", true
	}
	return strings.CutPrefix(file, strings.TrimSuffix(folder, "/")+"/")
}

// clean is a path in the one way to write it. On Windows there are others, and capital
// letters do not count.
func (p *Plan) clean(text string) string { return cleanPath(text, p.windows) }

func cleanPath(text string, windows bool) string {
	if windows {
		text = strings.TrimPrefix(strings.ReplaceAll(strings.ToLower(text), `\`, "/"), "c:")
	}
	return path.Clean(text)
}

// volume is the plan's of that name, nil for none.
func (p *Plan) volume(name string) *Volume {
	for i := range p.Volumes {
		if p.Volumes[i].Name == name {
			return &p.Volumes[i]
		}
	}
	return nil
}

// volumeOf is the pod's of that name, absent for none. Pods may have very many, and
// very many containers that are looked at.
func (p *Plan) volumeOf(pod Pod, name string) raw.Value {
	if p.byName == nil {
		p.byName = map[string]raw.Value{}
		for c := pod.volumes.Walk(); c.Next(); {
			p.byName[c.Value().Get("name").Text()] = c.Value()
		}
	}
	return p.byName[name]
}

// isIn says whether a volume of a pod brings the source at a path within it. What
// comes later in a projected volume is written over what came before.
func (s Source) isIn(volume raw.Value, at string, windows bool) bool {
	if items := volume.Get("downwardAPI"); !items.Empty() {
		_, is := s.writtenBy("downwardAPI", items, at, windows)
		return is
	}
	found := false
	for source := volume.Get("projected").Get("sources").Walk(); source.Next(); {
		for kind := source.Value().Walk(); kind.Next(); {
			if kind.Value().Empty() {
				continue
			}
			if writes, is := s.writtenBy(string(kind.Name()), kind.Value(), at, windows); writes {
				found = is
			}
		}
	}
	return found
}

// writtenBy says whether a part of a volume writes a file, and whether that is the
// source. What is not known may write any file.
func (s Source) writtenBy(kind string, part raw.Value, at string, windows bool) (writes, is bool) {
	here := func(of raw.Value) bool { return cleanPath(of.Get("path").Text(), windows) == at }
	switch kind {
	case "serviceAccountToken":
		audience := part.Get("audience").Text()
		return here(part), s.isToken() && audience != "" && (s.Audience == "" || asJSON(s.Audience) == audience)
	case "clusterTrustBundle":
		return here(part), s.TrustBundle != "" && part.Get("name").Is(s.TrustBundle)
	case "downwardAPI", "configMap", "secret":
	default:
		return true, false
	}
	items := part.Get("items")
	if kind != "downwardAPI" && items.Empty() {
		return !strings.Contains(at, "/"), false // each key is a file
	}
	for item := items.Walk(); item.Next(); {
		if !here(item.Value()) {
			continue
		}
		writes = true
		is = kind == "downwardAPI" && s.Field != "" && item.Value().Get("fieldRef").Get("fieldPath").Is(s.Field) ||
			kind == "configMap" && s.ConfigMap != "" && part.Get("name").Is(s.ConfigMap) && item.Value().Get("key").Is(s.Key)
	}
	return writes, is
}

func (s Source) isToken() bool { return s.Field == "" && s.ConfigMap == "" && s.TrustBundle == "" }

// asJSON is a text as it is read from JSON that it was written to, in which bytes that
// are no characters are replaced.
func asJSON(text string) string {
	if utf8.ValidString(text) {
		return text
	}
	return string([]rune(text))
}
