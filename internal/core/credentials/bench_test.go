package credentials_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/tabard-dev/tabard/internal/core/credentials"
	"github.com/tabard-dev/tabard/internal/testkit/crash"
	"github.com/tabard-dev/tabard/internal/testkit/must"
)

// BenchmarkDecide is the decision for a request of which the permissions boundary alone keeps the
// statements from what is protected, and for one that loses its policy as the boundary does not.
func BenchmarkDecide(b *testing.B) {
	for name, loose := range map[string]bool{"kept": false, "withdrawn": true} {
		b.Run(name, func(b *testing.B) {
			m := newModel(6)
			must.Do(b, crash.Settle(m))
			m.loose = loose
			w := m.Observe()
			w.Role.Live, w.Role.Role = true, *m.roles[roleName()]
			for i := range 5 {
				w.Protected.Roles = append(w.Protected.Roles, fmt.Sprintf("arn:aws:iam::%s:role/tabard/own%d", testAccount, i))
				w.Protected.Providers = append(w.Protected.Providers, fmt.Sprintf("arn:aws:iam::%s:oidc-provider/issuer%d.example", testAccount, i))
			}
			b.ReportAllocs()
			for b.Loop() {
				if got := strings.Contains(kinds(credentials.Decide(w).Steps), "RemovePolicy"); got != loose {
					b.Fatalf("it loses its policy: %t, want %t", got, loose)
				}
			}
		})
	}
}
