package podpatch

import (
	"fmt"
	"path"
	"slices"

	"github.com/tabard-dev/tabard/internal/core/inject/raw"
)

// Container is what a selected container has of a plan.
type Container struct {
	// Name is the container's.
	Name raw.Value
	// Watched says that one of the plan's Watch is in its environment.
	Watched bool
	// Settled says that it is left alone: see Group.Settles.
	Settled bool
	// Rival is the name of a volume that is mounted where a mount of the plan
	// belongs; RivalPath is where. That mount is not added: two mounts at one
	// path make a pod invalid.
	Rival     raw.Value
	RivalPath string

	list        string
	index       int
	env, mounts list
	// groups and mounted have a bit for each group and mount of the plan that is
	// there, or must not be added.
	groups, mounted uint64
	// stale are mounts to be replaced.
	stale []staleMount
}

// staleMount is a mount of a reserved volume that is not as it must be.
type staleMount struct {
	// mount is its index in the plan, index its own in the container.
	mount, index int
	// here says that it is where it belongs.
	here bool
}

// list is a list of a container as it is, with its length.
type list struct {
	value  raw.Value
	length int
}

// Has says whether the container has something of a group of the plan.
func (c Container) Has(group int) bool { return c.groups&(1<<group) != 0 }

// Variable is the entry of that name in the container's environment; the last
// one counts, as in Kubernetes.
func (c Container) Variable(name string) raw.Value {
	var found raw.Value
	for entry := c.env.value.Walk(); entry.Next(); {
		if entry.Value().Get("name").Is(name) {
			found = entry.Value()
		}
	}
	return found
}

// Examine finds what the selected containers have of the plan: first the regular
// containers, then the init containers. A plan has at most 64 groups and mounts.
// The error says what of them is not as the API has it.
func (p *Plan) Examine(pod Pod) ([]Container, error) {
	count := 0
	for _, list := range []raw.Value{pod.containers, pod.initContainers} {
		for c := list.Walk(); c.Next(); {
			count++
		}
	}
	found := make([]Container, 0, count)
	found, err := p.examineList(found, containersField, pod.containers)
	if err != nil {
		return nil, err
	}
	return p.examineList(found, initContainersField, pod.initContainers)
}

func (p *Plan) examineList(found []Container, list string, containers raw.Value) ([]Container, error) {
	index := 0
	for c := containers.Walk(); c.Next(); index++ {
		if c.Value().Kind() != raw.Object {
			return nil, fmt.Errorf("spec.%s[%d] is %s, expected an object", list, index, c.Value().Kind())
		}
		container := Container{list: list, index: index}
		if err := p.examine(&container, c.Value()); err != nil {
			return nil, fmt.Errorf("spec.%s[%d].%w", list, index, err)
		}
		if p.Selection.selects(container.Name) {
			found = append(found, container)
		}
	}
	return found, nil
}

func (p *Plan) examine(container *Container, value raw.Value) error {
	for c := value.Walk(); c.Next(); {
		switch string(c.Name()) {
		case "name":
			container.Name = c.Value()
		case "env":
			container.env.value = c.Value()
		case "volumeMounts":
			container.mounts.value = c.Value()
		}
	}
	if err := p.examineEnv(container); err != nil {
		return err
	}
	return p.examineMounts(container)
}

func (p *Plan) examineEnv(container *Container) error {
	if err := expect("env", container.env.value, raw.Array); err != nil {
		return err
	}
	for entry := container.env.value.Walk(); entry.Next(); container.env.length++ {
		if err := expect("env[]", entry.Value(), raw.Object); err != nil {
			return err
		}
		name := entry.Value().Get("name").Unquoted()
		for i := range p.Groups {
			if among(p.Groups[i].Names, name) {
				container.groups |= 1 << i
			}
		}
		container.Watched = container.Watched || among(p.Watch, name)
	}
	settling := uint64(0)
	for i := range p.Groups {
		if p.Groups[i].Settles {
			settling |= 1 << i
		}
	}
	container.Settled = settling != 0 && container.groups&settling == settling
	return nil
}

func among(names []string, name []byte) bool {
	for _, each := range names {
		if string(name) == each {
			return true
		}
	}
	return false
}

func (p *Plan) examineMounts(container *Container) error {
	if err := expect("volumeMounts", container.mounts.value, raw.Array); err != nil {
		return err
	}
	rivals := uint64(0)
	for entry := container.mounts.value.Walk(); entry.Next(); container.mounts.length++ {
		if err := expect("volumeMounts[]", entry.Value(), raw.Object); err != nil {
			return err
		}
		name, at := entry.Value().Get("name"), entry.Value().Get("mountPath").Unquoted()
		for i, mount := range p.Mounts {
			switch {
			case name.Is(mount.Volume) && mount.Reserved && !isText(entry.Value(), mount.appendTo(nil)):
				container.outdated(staleMount{i, container.mounts.length, samePath(at, mount.Path)})
			case name.Is(mount.Volume):
				container.mounted |= 1 << i
			case samePath(at, mount.Path):
				rivals |= 1 << i
				container.Rival, container.RivalPath = name, mount.Path
			}
		}
	}
	if rivals&^container.mounted == 0 { // what is mounted already is not to be added
		container.Rival = raw.Value{}
	}
	container.mounted |= rivals
	container.replaceStale()
	return nil
}

// outdated remembers one mount to replace for each of the plan; if there are
// several, one that is where it belongs: another one there would be one too many.
func (c *Container) outdated(found staleMount) {
	for i := range c.stale {
		if c.stale[i].mount == found.mount {
			if found.here && !c.stale[i].here {
				c.stale[i] = found
			}
			return
		}
	}
	c.stale = append(c.stale, found)
}

// replaceStale settles which mounts are replaced: not where the right one is there
// as well, or where something else is in its place. What is replaced is not added.
func (c *Container) replaceStale() {
	c.stale = slices.DeleteFunc(c.stale, func(s staleMount) bool { return c.mounted&(1<<s.mount) != 0 })
	for _, stale := range c.stale {
		c.mounted |= 1 << stale.mount
	}
}

// samePath says whether two paths are one, however they are written.
func samePath(at []byte, want string) bool {
	clean := path.Clean(want) // never longer than the way it was written
	return len(at) >= len(clean) && path.Clean(string(at)) == clean
}
