package podpatch

import "strconv"

// The fields of a spec that hold containers.
const (
	containersField     = "containers"
	initContainersField = "initContainers"
)

// additions are the elements of the plan for one list of each container.
type additions struct {
	field    string
	elements []element
}

// element is one variable or mount of the plan.
type element struct {
	text []byte
	// part is the index of its group or mount in the plan.
	part int
}

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

// containers writes what each container gets, in their order.
func (w *writer) containers(containers []Container) {
	for i := range containers {
		if c := &containers[i]; !c.Settled {
			w.extend(c, c.env, &w.variables, c.groups)
			w.replaceMounts(c)
			w.extend(c, c.mounts, &w.mounts, c.mounted)
		}
	}
}

// replaceMounts replaces those that are not as they must be.
func (w *writer) replaceMounts(c *Container) {
	for _, stale := range c.stale {
		w.begin("replace")
		w.path(c, w.mounts.field)
		w.text = strconv.AppendInt(append(w.text, '/'), int64(stale.index), 10)
		w.value()
		w.text = append(w.text, w.mounts.elements[stale.mount].text...)
		w.end()
	}
}

// extend appends to a list of a container what it has not, and makes the list if
// it is not there.
func (w *writer) extend(c *Container, present list, a *additions, has uint64) {
	switch {
	case !present.value.Empty():
		w.appendEach(c, a, has)
	case len(a.elements) > 0:
		w.makeList(c, a)
	}
}

// appendEach appends one by one.
func (w *writer) appendEach(c *Container, a *additions, has uint64) {
	for i := range a.elements {
		if has&(1<<a.elements[i].part) != 0 {
			continue
		}
		w.begin("add")
		w.path(c, a.field)
		w.text = append(w.text, "/-"...)
		w.value()
		w.text = append(w.text, a.elements[i].text...)
		w.end()
	}
}

// makeList makes a list of all elements.
func (w *writer) makeList(c *Container, a *additions) {
	w.begin("add")
	w.path(c, a.field)
	w.value()
	for i := range a.elements {
		w.text = append(w.text, "[,"[min(i, 1)])
		w.text = append(w.text, a.elements[i].text...)
	}
	w.text = append(w.text, ']')
	w.end()
}

// path writes the path of a list of a container.
func (w *writer) path(c *Container, field string) {
	w.text = append(append(w.text, "/spec/"...), c.list...)
	w.text = strconv.AppendInt(append(w.text, '/'), int64(c.index), 10)
	w.text = append(append(w.text, '/'), field...)
}
