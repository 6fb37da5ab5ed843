package podpatch

import (
	"fmt"
	"strings"
)

// adviseEnvFrom warns, once for the pod, of containers that take variables from config
// maps or Secrets which may have names that are injected: nothing here reads those, and
// in Kubernetes a container's env takes precedence over its envFrom.
func (p *Plan) adviseEnvFrom(containers []Container, warnings *Warnings) {
	var first *Container
	var names []string
	more := 0
	for i := range containers {
		c := &containers[i]
		if c.envFrom.Empty() || c.Settled {
			continue
		}
		switch found := p.overEnvFrom(c); {
		case len(found) == 0:
		case first == nil:
			first, names = c, found
		default:
			more++
		}
	}
	if first == nil {
		return
	}
	has := "has"
	if more > 0 {
		has = fmt.Sprintf("and %d more have", more)
	}
	// The names come last: what is cut from a long warning is some of them.
	warnings.Add("container %.63q %s envFrom, which does not replace what the webhook injects; to choose a variable yourself, set it in env: %s",
		first.Name.Text(), has, strings.Join(names, ", "))
}

// overEnvFrom are the variables that a container is given and that its envFrom may have,
// too: a source with a prefix has only those that begin with it.
func (p *Plan) overEnvFrom(c *Container) (names []string) {
	for i := range p.Groups {
		if c.Has(i) {
			continue
		}
		for _, variable := range p.Groups[i].Variables {
			if c.takes(variable.Name) {
				names = append(names, variable.Name)
			}
		}
	}
	return names
}

// takes says whether the container may take a variable of that name by its envFrom.
func (c *Container) takes(name string) bool {
	for source := c.envFrom.Walk(); source.Next(); {
		if key, is := strings.CutPrefix(name, source.Value().Get("prefix").Text()); is && key != "" {
			return true
		}
	}
	return false
}
