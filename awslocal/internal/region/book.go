package region

import (
	"cmp"
	"fmt"
	"slices"
	"sync"

	"github.com/tabard-dev/tabard/awslocal/internal/partition"
)

// Status is how an account has a region (Amazon EC2 API Reference, "Region").
type Status string

// The statuses of a region.
const (
	OptInNotRequired Status = "opt-in-not-required"
	OptedIn          Status = "opted-in"
	NotOptedIn       Status = "not-opted-in"
)

// Choice is a region of an account.
type Choice struct {
	Account string `json:"account"`
	Region  string `json:"region"`
}

// Book knows which opt-in regions the accounts of a server have disabled; all
// others are enabled. It is safe for concurrent use. A nil Book is one in which
// nothing is disabled.
type Book struct {
	partition partition.Partition

	mu       sync.Mutex
	disabled map[Choice]bool
}

// NewBook returns a book for the accounts of a partition.
func NewBook(of partition.Partition) *Book {
	return &Book{partition: of, disabled: map[Choice]bool{}}
}

// Enable makes an account's keys work in an opt-in region.
func (b *Book) Enable(account, region string) error { return b.set(account, region, true) }

// Disable makes an account's keys unknown in an opt-in region. Regions that need
// no opt-in cannot be disabled (AWS Account Management, "Enable or disable AWS
// Regions").
func (b *Book) Disable(account, region string) error { return b.set(account, region, false) }

func (b *Book) set(account, name string, enabled bool) error {
	if err := b.check(name); err != nil {
		return err
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	choice := Choice{account, name}
	if enabled {
		delete(b.disabled, choice)
	} else {
		b.disabled[choice] = true
	}
	return nil
}

// check refuses what no account can choose.
func (b *Book) check(name string) error {
	switch found, known := find(b.partition, name); {
	case !known:
		return fmt.Errorf("%q is no region of the partition %s", name, b.partition)
	case !found.OptIn:
		return fmt.Errorf("the region %s needs no opt-in and is always enabled", name)
	}
	return nil
}

// Enabled says whether an account's keys work in a region.
func (b *Book) Enabled(account, region string) bool {
	if b == nil {
		return true
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	return !b.disabled[Choice{account, region}]
}

// Status is how an account has a region.
func (b *Book) Status(account string, r Region) Status {
	switch {
	case !r.OptIn:
		return OptInNotRequired
	case b.Enabled(account, r.Name):
		return OptedIn
	}
	return NotOptedIn
}

// Reset enables all regions.
func (b *Book) Reset() { b.replace(map[Choice]bool{}) }

func (b *Book) replace(disabled map[Choice]bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.disabled = disabled
}

// Snapshot has the regions that accounts have disabled, ordered by account and
// name.
func (b *Book) Snapshot() []Choice {
	b.mu.Lock()
	defer b.mu.Unlock()
	var out []Choice
	for choice := range b.disabled {
		out = append(out, choice)
	}
	slices.SortFunc(out, func(x, y Choice) int {
		return cmp.Or(cmp.Compare(x.Account, y.Account), cmp.Compare(x.Region, y.Region))
	})
	return out
}

// Restore checks a snapshot and returns the function that replaces all choices
// with it.
func (b *Book) Restore(from []Choice, accounts []string) (replace func(), err error) {
	disabled := map[Choice]bool{}
	for _, choice := range from {
		if !slices.Contains(accounts, choice.Account) {
			return nil, fmt.Errorf("the region %s is disabled in account %q, which does not exist", choice.Region, choice.Account)
		}
		if err := b.check(choice.Region); err != nil {
			return nil, err
		}
		disabled[choice] = true
	}
	return func() { b.replace(disabled) }, nil
}
