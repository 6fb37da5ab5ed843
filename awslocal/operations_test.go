package awslocal

import (
	"maps"
	"slices"
	"testing"

	"github.com/tabard-dev/tabard/awslocal/internal/podidentity"
)

func TestEveryServiceThatAnswersNamesItsOperations(t *testing.T) {
	services := newServer(t, Options{}).services()
	if _, there := services[podidentity.Name]; !there {
		t.Errorf("%s is no service", podidentity.Name)
	}
	// The agent is no service of AWS.
	delete(services, podidentity.Name)
	answering, named := slices.Sorted(maps.Keys(services)), slices.Sorted(maps.Keys(Operations()))
	if !slices.Equal(answering, named) {
		t.Errorf("the services %v answer, and Operations names those of %v", answering, named)
	}
	for service, operations := range Operations() {
		if len(operations) == 0 || !slices.IsSorted(operations) || len(slices.Compact(slices.Clone(operations))) != len(operations) {
			t.Errorf("the operations of %s are none, not sorted, or there twice: %v", service, operations)
		}
	}
}
