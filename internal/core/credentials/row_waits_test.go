package credentials_test

import (
	"testing"

	"github.com/tabard-dev/tabard/internal/core/credentials"
)

// A request whose deletion is held up waits as one does that is not fulfilled.
func TestWhatWaits(t *testing.T) {
	for row, want := range map[credentials.Row]bool{
		{State: credentials.RowReady}:                                             false,
		{State: credentials.RowIgnored}:                                           false,
		{State: credentials.RowWaiting}:                                           true,
		{State: credentials.RowWaiting, Reason: "NotLookedAt"}:                    true,
		{State: credentials.RowDeleting}:                                          false,
		{State: credentials.RowDeleting, Reason: "AccessDenied"}:                  true,
		{State: credentials.RowDeleting, Reason: "CredentialsDeprovisionFailure"}: true,
	} {
		if got := row.Waits(); got != want {
			t.Errorf("%s waits: %t, want %t", row.StateText(), got, want)
		}
	}
}
