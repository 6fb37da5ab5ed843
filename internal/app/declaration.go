package app

import (
	"context"
	"slices"

	"github.com/spf13/pflag"
	ctrl "sigs.k8s.io/controller-runtime"

	"github.com/tabard-dev/tabard/internal/app/election"
)

// declaration is all that the program says of one controller. Its name is that of the
// folder in internal/controller, of the file in config/rbac, of the lease, and what
// --controllers takes.
type declaration struct {
	name, does string
	// off says that "*" does not mean it: it writes to objects that are not
	// Tabard's, where another program may do the same.
	off bool
	// gated says that it needs the feature gate of IAMRoleSelectors.
	gated bool
	// selected says that IAMRoleSelectors can select its objects.
	selected bool
	// predecessors are the leases of the programs whose place it takes: who runs it
	// holds these, too.
	predecessors []string
	// flags adds what it is told, each with the prefix before its name, and complete
	// checks what was said, whether it is chosen or not. Both may be nil.
	flags    func(flags *pflag.FlagSet, prefix string)
	complete func() error
	// add adds it to what runs while its leases are held.
	add func(context.Context, ctrl.Manager, *operator) error
	// page is the file in docs that describes it.
	page string
	// lacks says why it has not a part that each controller has besides its code. A test
	// demands the part or the reason, and refuses a reason for a part that is there.
	lacks map[part]string
}

// part is what each controller has besides its code.
type part string

// The parts, in the order in which docs/development.md adds them.
const (
	rightsPart     part = "rights"
	completionPart part = "completion"
	kindsPart      part = "kinds"
	componentPart  part = "component"
	leasePart      part = "lease"
	valuesPart     part = "values"
	alertsPart     part = "alerts"
	pagePart       part = "page"
	referencePart  part = "reference"
)

// declared are all controllers.
func declared() (out []*declaration) {
	for _, declare := range controllers {
		out = append(out, declare())
	}
	return out
}

// controllerNames are those of all controllers, and of those that are off until
// they are named.
func controllerNames() (known, off []string) {
	for _, c := range declared() {
		known = append(known, c.name)
		if c.off {
			off = append(off, c.name)
		}
	}
	return known, off
}

// leases are those of the controller, in the order in which they are waited for.
func (c *declaration) leases() []string {
	return append(slices.Clone(c.predecessors), leasePrefix+c.name)
}

// run adds the controller to the process, to run while it holds the leases.
func (c *declaration) run(ctx context.Context, elected *election.Election, op *operator) error {
	mgr, err := elected.Manager(c.leases()...)
	if err != nil {
		return err
	}
	return c.add(ctx, mgr, op)
}
