package hub

import (
	"path"
	"slices"
	"strconv"
	"strings"
)

// The flags of Open Cluster Management's hub controller that say what it does in AWS
// (v1.2.1, pkg/registration/hub). The second is the requirement's: released versions of theirs
// do not know it, and end for it.
const (
	DriversFlag = "--enabled-registration-drivers"
	DisableFlag = "--disable-managed-iam"
)

// ControllerNamespace is where Open Cluster Management runs its hub controller, unless it is
// hosted by another cluster.
const ControllerNamespace = "open-cluster-management-hub"

// AgentNamespace is where Open Cluster Management runs the agents of a joining cluster, unless
// its Klusterlet says otherwise (v1.2.1, pkg/operator/helpers).
const AgentNamespace = "open-cluster-management-agent"

// ControllerLabel and ControllerApp are the label of the hub controller's pods.
const (
	ControllerLabel = "app"
	ControllerApp   = "clustermanager-registration-controller"
)

// Activity says what a pod does about the roles and access entries of spokes.
type Activity string

const (
	// NoController is a pod that is no hub controller.
	NoController Activity = ""
	// Idle is a hub controller that makes and removes none.
	Idle Activity = "Idle"
	// Acting is a hub controller that makes and removes them.
	Acting Activity = "Acting"
	// Unclear is a pod of which it cannot be said.
	Unclear Activity = "Unclear"
)

// Pod is a pod in the namespace of the hub controller.
type Pod struct {
	// Name is its name.
	Name string
	// Controller says that its labels are those of the hub controller.
	Controller bool
	// Commands are the command and the arguments of each container, in one list each.
	Commands [][]string
}

// Activity is what the pod does, by what its containers run. Labels only add to what is said:
// a pod without the label that runs the hub controller counts as one.
func (p Pod) Activity() Activity {
	all := []Activity{NoController}
	if p.Controller {
		all = append(all, Idle)
	}
	for _, words := range p.Commands {
		all = append(all, activityOf(words))
	}
	return slices.MaxFunc(all, func(a, b Activity) int { return weight(a) - weight(b) })
}

// weight orders activities: what is done by one of several is what they do.
func weight(a Activity) int {
	return slices.Index([]Activity{NoController, Idle, Unclear, Acting}, a)
}

// activityOf is what a container does. Whatever names the driver in another way than by its
// flag, such as the script of a shell, is Unclear: nobody else may act beside it.
func activityOf(words []string) Activity {
	controller := isController(words)
	var acts, unclear, disabled, enabled bool
	for i, word := range words {
		name, value, given := strings.Cut(word, "=")
		switch {
		case name == DriversFlag && given, i > 0 && words[i-1] == DriversFlag:
			if name != DriversFlag {
				value = word
			}
			acts = acts || strings.Contains(value, DriverAWS)
			unclear = unclear || strings.Contains(value, "$(")
		case name == DisableFlag && given && !isTrue(value):
			enabled = true
		case name == DisableFlag:
			disabled = disabled || isSeparate(words[:i])
		case strings.Contains(name, DriverAWS) || controller && strings.Contains(name, "$("):
			unclear = true
		case strings.Contains(value, DriverAWS): // of another flag where the program is theirs
			unclear = unclear || !controller
		}
	}
	switch {
	case acts && (enabled || !disabled):
		return Acting
	case unclear:
		return Unclear
	case controller:
		return Idle
	}
	return NoController
}

// isController says that the words run the hub controller: PATH/registration controller.
func isController(words []string) bool {
	for i, word := range words {
		if strings.HasPrefix(word, DriversFlag) || i > 0 && word == "controller" && path.Base(words[i-1]) == "registration" {
			return true
		}
	}
	return false
}

// isSeparate says that the word after these is a flag for certain, and neither the value of
// the flag before it nor an argument after "--".
func isSeparate(before []string) bool {
	if len(before) == 0 {
		return true
	}
	last := before[len(before)-1]
	return !slices.Contains(before, "--") && (!strings.HasPrefix(last, "-") || strings.Contains(last, "="))
}

func isTrue(text string) bool {
	value, err := strconv.ParseBool(text)
	return err == nil && value
}

// busiest is what all pods do together, and the name of one that does it.
func busiest(pods []Pod) (what Activity, name string) {
	for _, pod := range pods {
		if now := pod.Activity(); weight(now) > weight(what) {
			what, name = now, pod.Name
		}
	}
	return what, name
}
