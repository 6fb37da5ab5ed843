// Package contract_test is the list of what the local AWS promises: one row for
// each operation, and for each row the states happy, absent, exists, denied,
// throttled and paged, asked with the official Go SDK. Read the files of rows as
// the specification; TestContract holds the local AWS to it.
package contract_test

import (
	"fmt"
	"slices"
	"strings"
)

// row is what one operation promises. A code is the one of AWS's error; the
// empty code means that the call succeeds.
type row struct {
	service, operation string
	// needs are the rows whose calls come first, made by the administrator; each
	// brings its own needs. "CreateRole" is one of the same service, "iam/CreateRole"
	// one of any.
	needs []string
	// call makes the call, exactly one.
	call func(*world) error

	// absent is the code while one of the needs is not met, and except has the
	// needs whose lack has another code.
	absent string
	except map[string]string
	// lose takes away, after the needs, what the call is about, or names something
	// else; lost is the code then. It is for what no other row makes.
	lose func(*world) error
	lost string
	// again is the code of the same call made a second time.
	again string

	// free says that no permission is asked: the call succeeds even where a policy
	// denies everything.
	free bool
	// stranger makes the caller one that is not allowed. Nil: a user without
	// policies calls.
	stranger func(*world)
	// unsigned says that the call carries no signature.
	unsigned bool
	// head says that the answer has no body, so that the SDK makes a code of the
	// HTTP status.
	head bool
	// partly says that the refusal of a caller stands in a successful answer.
	partly bool

	// pages returns the names that the SDK's paginator shows. The list holds what
	// fill made, three names, or those of shows. A list without pages has a
	// reason in whole.
	pages func(*world) ([]string, error)
	fill  func(w *world, name string) error
	// most is how many items there can be, where that is less than three.
	most  int
	shows []string
	whole string
}

// name is how other rows call this one.
func (r row) name() string { return r.service + "/" + r.operation }

// bare is the operation of a row's name.
func bare(name string) string { return name[strings.Index(name, "/")+1:] }

// need is the full name of one of the row's needs.
func (r row) need(name string) string {
	if strings.Contains(name, "/") {
		return name
	}
	return r.service + "/" + name
}

// table has all rows by their names.
type table map[string]row

func allRows() table {
	all := table{}
	for service, files := range map[string][][]row{
		"ec2":      {ec2Rows},
		"eks":      {clusterRows, entryRows, associationRows, eksTagRows},
		"eks-auth": {eksAuthRows},
		"iam":      {roleRows, userRows, keyRows, policyRows, providerRows, simulationRows},
		"s3":       {bucketRows, objectRows, controlRows},
		"sts":      {stsRows},
	} {
		for _, r := range slices.Concat(files...) {
			r.service = service
			if _, twice := all[r.name()]; twice {
				panic("two rows for " + r.name())
			}
			all[r.name()] = r
		}
	}
	return all
}

// before returns the names of all rows that come before a row, in their order.
func (t table) before(r row) ([]string, error) {
	var order []string
	for _, need := range r.needs {
		name := r.need(need)
		other, known := t[name]
		if !known {
			return nil, fmt.Errorf("%s needs %s, which is no row", r.name(), name)
		}
		earlier, err := t.before(other)
		if err != nil {
			return nil, err
		}
		for _, one := range append(earlier, name) {
			if !slices.Contains(order, one) {
				order = append(order, one)
			}
		}
	}
	return order, nil
}

// allBut drops a row, and those that cannot be without it.
func (t table) allBut(leftOut string, names []string) []string {
	return slices.DeleteFunc(slices.Clone(names), func(name string) bool { return name == leftOut || t.leads(t[name], leftOut) })
}

// leads says whether a row needs another one, by itself or through others.
func (t table) leads(r row, to string) bool {
	return slices.ContainsFunc(r.needs, func(need string) bool {
		name := r.need(need)
		return name == to || t.leads(t[name], to)
	})
}

// without is the code of a row's call while a need is not met.
func (r row) without(need string) string {
	for name, code := range r.except {
		if r.need(name) == need {
			return code
		}
	}
	return r.absent
}
