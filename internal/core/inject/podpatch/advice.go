package podpatch

import (
	"fmt"
	"slices"
	"strings"

	"github.com/tabard-dev/tabard/internal/core/inject/raw"
)

// Advise warns of what keeps containers from the identity that the plan gives
// them, and of what they may lose to it. The groups are those that the identity is in; the cloud is its name in
// the warnings.
func (p *Plan) Advise(containers []Container, cloud string, groups []int, warnings *Warnings) {
	for i := range p.Volumes {
		if volume := &p.Volumes[i]; volume.former != "" {
			warnings.Add("the pod's volume %s is not that of the %s identity, which is in the volume %s", volume.former, cloud, volume.Name)
		}
	}
	for i := range containers {
		c := &containers[i]
		switch {
		case c.Rival.Kind() != raw.Absent:
			warnings.Add("container %.63q mounts volume %.63q at %.100s, where the %s identity belongs; it is not mounted",
				c.Name.Text(), c.Rival.Text(), c.RivalPath, cloud)
		case c.Lost:
			warnings.Add("container %.63q looks for its %s identity at %.100s, and it is not mounted there", c.Name.Text(), cloud, c.RivalPath)
		}
		if c.Settled {
			continue
		}
		for _, group := range groups {
			if c.Has(group) {
				advisePreset(p.Groups[group].Variables, c, warnings)
			}
		}
		if c.Watched {
			advisePreferred(p.Watch, c, cloud, warnings)
		}
	}
	if !AnyLost(containers) { // where a pod is refused for that, the warnings are the reason
		p.adviseEnvFrom(containers, warnings)
	}
}

// Declined says by what the author of a pod keeps the identity, which is in a group, from a
// container: its selection, or a variable of its own. It is empty for a pod whose containers all
// get it. The plan has been examined.
func (p *Plan) Declined(containers []Container, group int) string {
	if p.unselected.Kind() != raw.Absent {
		return fmt.Sprintf("the pod's annotations leave out container %.63q", p.unselected.Text())
	}
	for i := range containers {
		if c := &containers[i]; c.Has(group) {
			if why := preset(p.Groups[group].Variables, c); why != "" {
				return why
			}
		}
	}
	return ""
}

// advisePreset warns of a variable that keeps those of its group from being injected.
func advisePreset(variables []Variable, c *Container, warnings *Warnings) {
	if why := preset(variables, c); why != "" {
		warnings.Add("%s", why)
	}
}

// preset says which variable keeps those of its group from being injected, unless all of them
// are as they would be injected.
func preset(variables []Variable, c *Container) string {
	var names []string
	first, same := "", true
	for _, variable := range variables {
		entry := c.Variable(variable.Name)
		if first == "" && entry.Kind() != raw.Absent {
			first = variable.Name
		}
		same = same && entry.Get("value").Is(variable.Value)
		names = append(names, variable.Name)
	}
	if same {
		return ""
	}
	return fmt.Sprintf("container %.63q sets %s itself, which keeps %s from being injected", c.Name.Text(), first, strings.Join(names, " and "))
}

// advisePreferred warns of a variable that the SDKs prefer to the injected ones.
// An empty one does not count for them.
func advisePreferred(names []string, c *Container, cloud string, warnings *Warnings) {
	for _, name := range names {
		entry := c.Variable(name)
		if entry.Kind() != raw.Absent && (!entry.Get("valueFrom").Empty() || entry.Get("value").Text() != "") {
			warnings.Add("container %.63q sets %s, which %s SDKs prefer to the pod's identity", c.Name.Text(), name, cloud)
			return
		}
	}
}

// AnyLost says that one of the containers looks for its identity and does not find it.
func AnyLost(containers []Container) bool {
	return slices.ContainsFunc(containers, func(c Container) bool { return c.Lost })
}
