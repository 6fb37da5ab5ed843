package podpatch

import (
	"fmt"
	"slices"
	"strings"

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
	// Lost says that it looks for files of the plan and does not find them.
	Lost bool
	// Rival is the name of a volume that is mounted where a mount of the plan
	// belongs, or over a file of it, absent if there is none; RivalPath is where. A
	// mount is not added in the place of another one: two at one path make a pod
	// invalid.
	Rival     raw.Value
	RivalPath string

	list        string
	index       int
	env, mounts list
	// envFrom is where the container takes more variables from.
	envFrom raw.Value
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

// MaxContainers is how many containers a pod that gets something may have: many more
// than pods have. The size of a patch follows from their number, and whoever may send a
// review could otherwise have three bytes answered by a thousand.
const MaxContainers = 1000

// Examine finds what the selected containers have of the plan: first the regular
// containers, then the init containers. A plan has at most 64 groups and mounts. Its
// volumes get other names where the pod has others under theirs.
// The error says what of them is not as the API has it, or that they are too many.
func (p *Plan) Examine(pod Pod) ([]Container, error) {
	p.windows = pod.Windows
	p.settleVolumes(pod)
	count := 0
	for _, list := range []raw.Value{pod.containers, pod.initContainers} {
		for c := list.Walk(); c.Next(); {
			count++
		}
	}
	if count > MaxContainers {
		return nil, fmt.Errorf("the pod has %d containers, expected at most %d where they get an identity", count, MaxContainers)
	}
	found := make([]Container, 0, count)
	found, err := p.examineList(found, pod, containersField, pod.containers)
	if err != nil {
		return nil, err
	}
	return p.examineList(found, pod, initContainersField, pod.initContainers)
}

func (p *Plan) examineList(found []Container, pod Pod, list string, containers raw.Value) ([]Container, error) {
	index := 0
	for c := containers.Walk(); c.Next(); index++ {
		if c.Value().Kind() != raw.Object {
			return nil, fmt.Errorf("spec.%s[%d] is %s, expected an object", list, index, c.Value().Kind())
		}
		container := Container{list: list, index: index}
		if err := p.examine(&container, pod, c.Value()); err != nil {
			return nil, fmt.Errorf("spec.%s[%d].%w", list, index, err)
		}
		switch {
		case p.Selection.selects(container.Name):
			found = append(found, container)
		case p.unselected.Kind() == raw.Absent:
			p.unselected = container.Name
		}
	}
	return found, nil
}

func (p *Plan) examine(container *Container, pod Pod, value raw.Value) error {
	for c := value.Walk(); c.Next(); {
		switch string(c.Name()) {
		case "name":
			container.Name = c.Value()
		case "env":
			container.env.value = c.Value()
		case "envFrom":
			container.envFrom = c.Value()
		case "volumeMounts":
			container.mounts.value = c.Value()
		}
	}
	if err := p.examineEnv(container); err != nil {
		return err
	}
	return p.examineMounts(container, pod)
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

func (p *Plan) examineMounts(container *Container, pod Pod) error {
	if err := expect("volumeMounts", container.mounts.value, raw.Array); err != nil {
		return err
	}
	var seen seenMounts
	for entry := container.mounts.value.Walk(); entry.Next(); container.mounts.length++ {
		if err := expect("volumeMounts[]", entry.Value(), raw.Object); err != nil {
			return err
		}
		for i, mount := range p.Mounts {
			p.examineMount(container, &seen, i, mount, entry.Value())
		}
	}
	container.mounted |= seen.rival
	container.replaceStale()
	p.settleMounts(container, pod, seen)
	return nil
}

// examineMount looks at what one mount of a container has to do with one of the plan.
func (p *Plan) examineMount(container *Container, seen *seenMounts, i int, mount Mount, entry raw.Value) {
	want := p.clean(mount.Path)
	same, beneath := false, false
	if at := entry.Get("mountPath").Unquoted(); len(at) >= len(want) { // no way to write a path is shorter
		clean := p.clean(string(at))
		same, beneath = clean == want, strings.HasPrefix(clean, want+"/")
	}
	own := entry.Get("name").Is(mount.Volume)
	switch {
	case own && mount.Reserved && !isText(entry, mount.appendTo(nil)):
		container.outdated(staleMount{i, container.mounts.length, same})
		return
	case own && same && entry.Get("subPath").Text() == "" && entry.Get("subPathExpr").Text() == "":
		container.mounted |= 1 << i
		return
	case same:
		seen.rival |= 1 << i
	case beneath:
		seen.beneath |= 1 << i
	case own:
		seen.elsewhere |= 1 << i
	}
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
