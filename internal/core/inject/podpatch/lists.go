package podpatch

import "strconv"

// The fields of a spec that hold containers.
const (
	containersField     = "containers"
	initContainersField = "initContainers"
)

// shelf is where a list of containers stands while much is written to it: a
// member of the object that no pod has. Its name is short, and a path to a
// container is in each operation; moving the list there and back pays from so
// many operations on.
const (
	shelf     = "c"
	shelfPays = 9
)

// additions are the elements of the plan for one list of each container.
type additions struct {
	field    string
	elements []element
	// whole is a list that was made of all elements: a container that has none
	// gets all of them. The others like it are copies.
	whole place
}

// element is one variable or mount of the plan.
type element struct {
	text []byte
	// part is the index of its group or mount in the plan.
	part int
	// first is where it stands in the container that got it first. The others
	// copy it from there if that is shorter than saying it again.
	first place
}

// place is a list of a container, or the element at an index of it. The zero
// place is none.
type place struct {
	list      string
	container int
	element   int
}

// is says whether there is a place.
func (p place) is() bool { return p.list != "" }

// encode writes each variable and mount of the plan once.
func (w *writer) encode() {
	buffer := make([]byte, 0, elementsSize)
	w.variables = additions{field: "env", elements: make([]element, 0, elementsCount)}
	for i := range w.plan.Groups {
		for _, variable := range w.plan.Groups[i].Variables {
			start := len(buffer)
			buffer = variable.appendTo(buffer)
			w.variables.elements = append(w.variables.elements, element{text: buffer[start:len(buffer):len(buffer)], part: i})
		}
	}
	w.mounts = additions{field: "volumeMounts", elements: make([]element, 0, len(w.plan.Mounts))}
	for i, mount := range w.plan.Mounts {
		start := len(buffer)
		buffer = mount.appendTo(buffer)
		w.mounts.elements = append(w.mounts.elements, element{text: buffer[start:len(buffer):len(buffer)], part: i})
	}
}

// containers writes what the containers of one list get.
func (w *writer) containers(pod Pod, list string, containers []Container) {
	operations := 0
	for i := range containers {
		if c := &containers[i]; !c.Settled {
			operations += w.variables.operations(c.env, c.groups) + w.mounts.operations(c.mounts, c.mounted) + len(c.stale)
		}
	}
	w.list, w.base = list, "/spec/"+list
	away := operations >= shelfPays && !pod.crowded
	if away {
		w.move(w.base, "/"+shelf)
		w.base = "/" + shelf
	}
	for i := range containers {
		if c := &containers[i]; !c.Settled {
			w.extend(c, c.env, &w.variables, c.groups)
			w.replaceMounts(c)
			w.extend(c, c.mounts, &w.mounts, c.mounted)
		}
	}
	if away {
		w.move(w.base, "/spec/"+list)
	}
}

// replaceMounts replaces those that are not as they must be.
func (w *writer) replaceMounts(c *Container) {
	for _, stale := range c.stale {
		w.begin("replace", "path")
		w.elementPath(place{c.list, c.index, stale.index}, w.mounts.field)
		w.value()
		w.text = append(w.text, w.mounts.elements[stale.mount].text...)
		w.end()
	}
}

// operations is how many a list takes to get what it has not.
func (a *additions) operations(present list, has uint64) int {
	missing := 0
	for i := range a.elements {
		if has&(1<<a.elements[i].part) == 0 {
			missing++
		}
	}
	if present.value.Empty() {
		return min(missing, 1)
	}
	return missing
}

// extend appends to a list of a container what it has not, and makes the list if
// it is not there.
func (w *writer) extend(c *Container, present list, a *additions, has uint64) {
	here := place{list: c.list, container: c.index, element: present.length}
	switch {
	case a.operations(present, has) == 0:
		return
	case !present.value.Empty():
		w.appendEach(here, a, has)
	case a.whole.is():
		w.begin("copy", "from")
		w.path(a.whole, a.field)
		w.member("path")
		w.path(here, a.field)
		w.endString()
	default:
		a.whole = here
		w.makeList(here, a)
	}
}

// appendEach appends one by one.
func (w *writer) appendEach(end place, a *additions, has uint64) {
	for i := range a.elements {
		e := &a.elements[i]
		if has&(1<<e.part) != 0 {
			continue
		}
		if e.first.is() && w.pathLength(e.first, a.field)+copyCosts < len(e.text) {
			w.begin("copy", "from")
			w.elementPath(e.first, a.field)
			w.member("path")
			w.path(end, a.field)
			w.text = append(w.text, "/-"...)
			w.endString()
		} else {
			w.begin("add", "path")
			w.path(end, a.field)
			w.text = append(w.text, "/-"...)
			w.value()
			w.text = append(w.text, e.text...)
			w.end()
		}
		e.stands(end)
		end.element++
	}
}

// makeList makes a list of all elements.
func (w *writer) makeList(here place, a *additions) {
	w.begin("add", "path")
	w.path(here, a.field)
	w.value()
	here.element = 0
	for i := range a.elements {
		e := &a.elements[i]
		w.text = append(w.text, "[,"[min(here.element, 1)])
		w.text = append(w.text, e.text...)
		e.stands(here)
		here.element++
	}
	w.text = append(w.text, ']')
	w.end()
}

// stands remembers where an element stands first.
func (e *element) stands(at place) {
	if !e.first.is() {
		e.first = at
	}
}

// path writes the path of a list of a container.
func (w *writer) path(p place, field string) {
	if p.list == w.list {
		w.text = append(w.text, w.base...)
	} else {
		w.text = append(append(w.text, "/spec/"...), p.list...)
	}
	w.text = strconv.AppendInt(append(w.text, '/'), int64(p.container), 10)
	w.text = append(append(w.text, '/'), field...)
}

// elementPath writes the path of an element of such a list.
func (w *writer) elementPath(p place, field string) {
	w.path(p, field)
	w.text = strconv.AppendInt(append(w.text, '/'), int64(p.element), 10)
}

// pathLength is the length of what elementPath writes.
func (w *writer) pathLength(p place, field string) int {
	start := len(w.text)
	w.elementPath(p, field)
	length := len(w.text) - start
	w.text = w.text[:start]
	return length
}
